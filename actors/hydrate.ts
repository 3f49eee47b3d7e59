/**
 * What a decision may look at and memory lacks: attempts that have ended, and leases that were renewed or cut short
 * without a fact. Run by an actor before it decides.
 */
import type { AttemptId, Command, LeaseId, MessageId, RunAggregate, SessionId, Timestamp } from '../machines/index.ts';
import { isAttemptTerminal, leaseEndsAt } from '../machines/index.ts';
import type { Credit, Store } from '../store/index.ts';
import type { Waiting } from './envelope.ts';
import { internal } from './envelope.ts';

/**
 * `late`: messages about attempts that have ended; they may have been answered before. `fetched`: attempts that are in
 * memory for this group only.
 */
export type Hydrated = { readonly late: readonly MessageId[]; readonly fetched: readonly AttemptId[] } | 'behind';

/** `fresh`: the state was loaded after `now`. 'behind': memory is older than the store and must be loaded anew. */
export async function hydrate(
  store: Store,
  state: RunAggregate,
  batch: readonly Waiting[],
  { now, fresh }: { readonly now: Timestamp; readonly fresh: boolean },
): Promise<Hydrated> {
  const late: MessageId[] = [];
  const unknown = new Set<AttemptId>();
  let doubtful = false;
  for (const { envelope } of batch) {
    const named = leaseOf(envelope.command);
    if (named === null) continue;
    const attempt = named.attempt === null ? undefined : state.attempt(named.attempt);
    if (named.attempt !== null && (attempt === undefined || isAttemptTerminal(attempt.state))) {
      if (attempt === undefined) unknown.add(named.attempt);
      if (envelope.messageId !== null) late.push(envelope.messageId);
    }
    const lease = state.lease(named.lease);
    // An expiry is judged on the row itself: the end of a session cuts a lease short without a fact.
    doubtful ||= lease !== undefined && (named.attempt === null || leaseEndsAt(lease) <= now);
  }
  if (unknown.size > 0) {
    for (const row of await store.attempts(state.run.id, { ids: [...unknown] }))
      if (state.attempt(row.id) === undefined) state.putAttempt(row);
  }
  if (doubtful && !fresh && (await takeOverLeases(store, state)) === 'behind') return 'behind';
  return { late, fetched: [...unknown] };
}

/** Renewals, and the end of a session, change a lease row without a fact; any other difference means memory is old. */
export async function takeOverLeases(store: Store, state: RunAggregate): Promise<'current' | 'behind'> {
  const stored = new Map((await store.leases(state.run.id, { live: true })).map((row) => [row.id, row]));
  for (const { id, version } of state.leases.values()) if (stored.get(id)?.version !== version) return 'behind';
  for (const row of stored.values()) if (state.lease(row.id) !== undefined) state.putLease(row);
  return 'current';
}

/** Nobody waits for a credit, and nothing is decided with it. */
export function creditCommand(credit: Credit, reject: (error: unknown) => void): Waiting {
  const { sequence, gapStart, gapMs } = credit;
  return {
    envelope: internal({ type: 'CreditOutage', credit: sequence, gapStart, gapMs }, 'system:heartbeat'),
    resolve: () => {},
    reject,
  };
}

/** The lease a command speaks of, and the attempt if it names one. */
function leaseOf(command: Command): { readonly lease: LeaseId; readonly attempt: AttemptId | null } | null {
  if ('authority' in command) return { lease: command.authority.lease, attempt: command.authority.attempt };
  switch (command.type) {
    case 'ExpireLease':
    case 'ExpireOffer':
      return { lease: command.lease, attempt: null };
    default:
      return null;
  }
}

/** The session whose state the decision asks for. */
export function sessionOf(command: Command): SessionId | null {
  if (command.type === 'GrantLease') return command.session;
  return command.type === 'AcceptLease' ? command.authority.session : null;
}
