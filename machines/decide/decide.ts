/**
 * The decision on one command: a pure function of the run's state, the command and the context (000 §242).
 *
 *  D1 nothing is called, nothing is changed: the answer is data.
 *  D2 every command has an answer: accepted, no-op with the standing result, or rejected with a code.
 *  D3 changed rows are exactly the fold of the facts (but for `unfoldedColumns`).
 * Neighbours: `charts/` says what is legal, `policies/` what failure, retry and dependencies mean, actors commit.
 */
import type { Command } from '../model/commands.ts';
import type { Changes, Decision } from '../model/decision.ts';
import { isAttemptTerminal, isLeaseLive } from '../model/states.ts';
import type { RunAggregate, RunView } from '../state/run-state.ts';
import { draftOver } from '../state/run-state.ts';
import type { DecideContext } from './context.ts';
import { decideControlCommand, decideSchedulerCommand } from './control-commands.ts';
import { decideOperatorCommand } from './operator-commands.ts';
import { decideRunnerCommand } from './runner-commands.ts';
import { decideTimerCommand } from './timer-commands.ts';

export function decide(state: RunView, command: Command, context: DecideContext): Decision {
  const draft = draftOver(state);
  switch (command.type) {
    case 'AcceptLease':
    case 'RejectLease':
    case 'StartWork':
    case 'FinishWork':
    case 'CompleteAttempt':
    case 'FailAttempt':
    case 'ConfirmTermination':
      return decideRunnerCommand(draft, context, command);
    case 'ReachRunDeadline':
    case 'ReachQueueTimeout':
    case 'ReachPhaseTimeout':
    case 'ReachRetryTime':
    case 'ExpireOffer':
    case 'ExpireLease':
    case 'ExpireGate':
      return decideTimerCommand(draft, context, command);
    case 'GrantLease':
    case 'ResolveCacheHit':
    case 'RevokeLease':
      return decideSchedulerCommand(draft, context, command);
    case 'CancelRun':
    case 'SupersedeRun':
    case 'CancelJob':
    case 'SkipJob':
    case 'ChangePriority':
    case 'DecideGate':
      return decideOperatorCommand(draft, context, command);
    case 'JudgeNodes':
    case 'ResolveLost':
    case 'CreditOutage':
      return decideControlCommand(draft, context, command);
  }
}

/** Moves decided changes into the state; ended attempts and leases leave it. */
export function absorb(state: RunAggregate, changes: Changes): void {
  state.putRun(changes.run);
  for (const row of changes.jobs) state.putNode(row);
  for (const row of changes.gates) state.putNode(row);
  for (const row of changes.attempts) state.putAttempt(row);
  for (const row of changes.leases) state.putLease(row);
  state.setSequence(changes.run.sequence);
  const ended = endedRows(changes);
  state.forget(ended.attempts, ended.leases);
}

/** Rows of a commit that no later decision needs in memory. */
const endedRows = (changes: Changes) => ({
  attempts: changes.attempts.filter((row) => isAttemptTerminal(row.state)).map((row) => row.id),
  leases: changes.leases.filter((row) => !isLeaseLive(row.state)).map((row) => row.id),
});
