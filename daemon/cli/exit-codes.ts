/** Exit codes are an interface: scripts branch on them. A number never changes its meaning. */
import type { RejectionCode, RunState } from '../../machines/index.ts';

export const exitCodes = {
  ok: 0,
  runFailed: 1,
  runCancelled: 2,
  usage: 3,
  notAllowed: 4,
  conflict: 5,
  runTimedOut: 6,
  /** The store, the disk or the program itself is in trouble; nothing is said about the run. */
  trouble: 70,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes] | 130 | 143;

export const exitCodeHelp = `
Exit codes:
  0    ok, the run succeeded
  1    the run failed
  2    the run was cancelled or superseded
  3    wrong usage, a plan with problems, or nothing of that name
  4    not allowed
  5    conflict: it does not fit the present state
  6    the run exceeded its deadline
  70   trouble with the store or inside forgeyard
  130, 143  left on a signal; the run can be resumed`;

/** Null while the run has not ended. */
export function exitCodeOfRun(state: RunState): ExitCode | null {
  switch (state) {
    case 'Succeeded':
      return exitCodes.ok;
    case 'Failed':
      return exitCodes.runFailed;
    case 'Cancelled':
    case 'Superseded':
      return exitCodes.runCancelled;
    case 'TimedOut':
      return exitCodes.runTimedOut;
    case 'Queued':
    case 'Running':
    case 'Cancelling':
      return null;
    default:
      return state satisfies never;
  }
}

export function exitCodeOfRejection(code: RejectionCode): ExitCode {
  switch (code) {
    case 'NotAllowed':
    case 'NotAnApprover':
      return exitCodes.notAllowed;
    case 'UnknownEntity':
    case 'InvalidCommand':
      return exitCodes.usage;
    default:
      return exitCodes.conflict;
  }
}
