/** Counts what histories have reached, so that a generator that no longer reaches something is noticed. */
import type { Decision, Fact } from '../../machines/index.ts';
import { factTypes, noOpCodes, reasonCodes, rejectionCodes } from '../../machines/index.ts';

export interface Tally {
  readonly counts: Readonly<Record<string, number>>;
  readonly commands: number;
  readonly factCount: number;
  facts(facts: readonly Fact[]): void;
  decision(decision: Decision): void;
}

/** Codes no history can reach, each with the reason. */
const unreachable: Readonly<Record<string, string>> = {
  'rejected RunTerminating': 'an intent leaves nothing that could begin; the charts refuse it all the same',
  'rejected RunExists': 'the store answers it',
  'rejected NotAllowed': 'authorisation answers it, before a command is decided',
  'rejected Overloaded': 'the mailbox answers it',
  'no-op Duplicate': 'receipts answer it',
  'reason Cancelled': 'a runner may not report it',
  'reason CompileFailure': 'judged like UserCommand',
  'reason TestFailure': 'judged like UserCommand',
  'reason SandboxSetup': 'judged like Infrastructure',
  'reason ToolchainUnavailable': 'judged like Infrastructure',
  'reason InputFetch': 'judged like Infrastructure',
  'reason Internal': 'judged like Policy',
};

/** Everything a long enough search should have seen at least once. */
export const expectedSometimes: readonly string[] = [
  ...factTypes.map((type) => `fact ${type}`),
  ...reasonCodes.map((code) => `reason ${code}`),
  ...Object.keys(rejectionCodes).map((code) => `rejected ${code}`),
  ...Object.keys(noOpCodes).map((code) => `no-op ${code}`),
].filter((name) => unreachable[name] === undefined);

export function createTally(): Tally {
  const counts: Record<string, number> = Object.fromEntries(expectedSometimes.map((name) => [name, 0]));
  const count = (name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  let commands = 0;
  let factCount = 0;
  return {
    counts,
    get commands() {
      return commands;
    },
    get factCount() {
      return factCount;
    },
    facts(facts) {
      factCount += facts.length;
      for (const { type, reason } of facts) {
        count(`fact ${type}`);
        count(`reason ${reason.code}`);
      }
    },
    decision(decision) {
      commands += 1;
      if (decision.outcome !== 'accepted') count(`${decision.outcome} ${decision.code}`);
    },
  };
}
