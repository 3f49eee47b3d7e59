/** One fact of a run's history, without the columns it changed: those are for `evolve`, not for readers. */
import type { Fact, NodeName } from '../../machines/index.ts';
import type { StoredFact } from '../../store/index.ts';
import { publicId } from '../ids/index.ts';
import type { ReasonView } from './reason-view.ts';
import { reasonView } from './reason-view.ts';
import { isoTime } from './time.ts';

export interface FactView {
  readonly sequence: number;
  readonly id: string;
  readonly at: string;
  readonly type: Fact['type'];
  readonly entity: Fact['entity'];
  readonly entityId: string;
  /** The job or gate it is about; null for the run. */
  readonly node: string | null;
  readonly from: string | null;
  readonly to: string;
  readonly reason: ReasonView | null;
  readonly actor: string;
  readonly version: number;
  readonly correlationId: string;
  readonly causationId: string | null;
}

export function factView(stored: StoredFact, names: readonly NodeName[]): FactView {
  const { fact } = stored;
  return {
    sequence: stored.sequence,
    id: publicId('event', stored.eventId),
    at: isoTime(stored.occurredAt),
    type: fact.type,
    entity: fact.entity,
    entityId: entityIdOf(stored),
    node: fact.entity === 'run' ? null : (names[fact.index] ?? null),
    from: fact.from,
    to: fact.to,
    reason: reasonView(fact.reason),
    actor: stored.actor,
    version: fact.version,
    correlationId: stored.correlationId,
    causationId: stored.causationId === null ? null : publicId('event', stored.causationId),
  };
}

function entityIdOf({ fact, runId }: StoredFact): string {
  switch (fact.entity) {
    case 'run':
      return publicId('run', runId);
    case 'job':
      return publicId('job', fact.id);
    case 'gate':
      return publicId('gate', fact.id);
    case 'attempt':
      return publicId('att', fact.id);
    case 'lease':
      return publicId('lease', fact.id);
    default:
      return fact satisfies never;
  }
}
