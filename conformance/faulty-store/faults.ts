/**
 * What may go wrong between a program and its database, and who decides when. Every kind leaves the caller with less
 * knowledge than the store has; none of them breaks what was stored.
 */
export type Fault =
  /** The call never reached the store: it throws `StoreUnavailable`. */
  | 'unreachable'
  /** It was executed and the answer was lost: a commit is `unknown`, any other call throws. */
  | 'answer-lost'
  /** It was not executed, and nobody knows: a commit is `unknown`, any other call throws. */
  | 'timed-out'
  /** Somebody else was faster, or so it is said: a commit or a session update answers `conflict`. */
  | 'conflict';

export const faults: readonly Fault[] = ['unreachable', 'answer-lost', 'timed-out', 'conflict'];

/** Asked before every call; null lets it through. */
export interface FaultPlan {
  next(call: string): Fault | null;
  /** How often each fault was given, so that a test can tell a storm from a calm. */
  readonly given: ReadonlyMap<Fault, number>;
}

export interface SeededFaults {
  readonly random: () => number;
  /** Chance of a fault for a call that may have one, 0 to 1. */
  readonly rate: number;
  /** Calls that go through after each fault: what follows a fault has a chance to find out. */
  readonly calmCalls?: number;
  readonly calls?: (call: string) => boolean;
}

/** Claims whose answer is lost hold their rows until the claim runs out; that has tests of its own. */
const held: ReadonlySet<string> = new Set(['claimTimers', 'claimOutbox']);

export function seededFaults(options: SeededFaults): FaultPlan {
  const { random, rate, calmCalls = 3, calls = () => true } = options;
  const given = new Map<Fault, number>();
  let calm = 0;
  return {
    given,
    next(call) {
      if (calm > 0) {
        calm -= 1;
        return null;
      }
      if (!calls(call) || random() >= rate) return null;
      const kind = faults[Math.floor(random() * faults.length)] ?? 'unreachable';
      const fault = kind === 'answer-lost' && held.has(call) ? 'unreachable' : kind;
      given.set(fault, (given.get(fault) ?? 0) + 1);
      calm = calmCalls;
      return fault;
    },
  };
}

/** Exactly these faults, each at the n-th call of its name (from 1, counted from now on). */
export function scriptedFaults(
  script: readonly { readonly call: string; readonly nth: number; readonly fault: Fault }[],
): FaultPlan {
  const given = new Map<Fault, number>();
  const counts = new Map<string, number>();
  return {
    given,
    next(call) {
      const count = (counts.get(call) ?? 0) + 1;
      counts.set(call, count);
      const found = script.find((one) => one.call === call && one.nth === count);
      if (found === undefined) return null;
      given.set(found.fault, (given.get(found.fault) ?? 0) + 1);
      return found.fault;
    },
  };
}
