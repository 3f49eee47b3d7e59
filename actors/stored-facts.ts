/** Puts facts into their envelopes (003 §7): the first is caused by what the sender names, each further one by the one before. */
import type { CorrelationId, EventId, Fact, RunId } from '../machines/index.ts';
import type { StoredFact } from '../store/index.ts';
import type { Ids } from './ports.ts';

const factSchemaVersion = 1;

export interface FactOrigin {
  readonly runId: RunId;
  readonly actor: string;
  /** Null: the run correlates its facts. */
  readonly correlationId: CorrelationId | null;
  readonly causationId: EventId | null;
}

export function storedFacts(facts: readonly Fact[], origin: FactOrigin, ids: Ids): readonly StoredFact[] {
  const correlationId = origin.correlationId ?? (String(origin.runId) as CorrelationId);
  let { causationId } = origin;
  return facts.map((fact) => {
    const { runId, actor } = origin;
    const eventId = ids.uuid() as EventId;
    const stored: StoredFact = {
      eventId,
      schemaVersion: factSchemaVersion,
      runId,
      sequence: fact.sequence,
      occurredAt: fact.at,
      actor,
      correlationId,
      causationId,
      fact,
    };
    causationId = eventId;
    return stored;
  });
}
