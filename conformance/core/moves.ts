/** The words in which suites drive a world: a runner's messages, a scheduler's grants, a person's requests. */
import type {
  Authority,
  Command,
  Decision,
  FailureClass,
  GateId,
  JobId,
  OutputRef,
  RunnerId,
  SessionId,
} from '../../machines/index.ts';
import { idOf } from './ids.ts';
import { fakeDigest } from './plans.ts';
import type { Rows } from './rows.ts';
import { authorityFor, gateOf, jobOf, leaseOf } from './rows.ts';
import type { World } from './world.ts';

export const sessionOf = (name: string): SessionId => idOf<SessionId>(name);

/** `ada` is runner ada in its first life, `ada.2` the same runner in its second. */
export const runnerOf = (session: string): RunnerId => idOf<RunnerId>(session.split('.')[0] ?? session);

export function placeOf(world: World, node: string): number {
  const at = world.state.index.byName.get(node);
  if (at === undefined) throw new Error(`the plan has no node ${node}`);
  return at;
}

export const oneOutput: OutputRef = { path: 'out/app', digest: fakeDigest('app'), bytes: 12, mode: 0o644 };
const evidence = (outputs: readonly OutputRef[], code: number) => ({
  exit: { code, signal: null },
  outputs,
  reports: [],
  log: null,
});

export type RunnerWord = 'accept' | 'decline' | 'start' | 'finish' | 'complete' | 'fail' | 'stopped';
export interface MessageOptions {
  readonly number?: number | undefined;
  /** Fields of the authority that are not what they should be. */
  readonly tampered?: Partial<Authority>;
  readonly failureClass?: FailureClass;
  readonly transient?: boolean;
  readonly unverified?: boolean;
  readonly message?: string;
}

/** A runner message about an attempt, in the words of the protocol's verbs. */
export function runnerMessage(rows: Rows, word: RunnerWord, node: string, options: MessageOptions = {}): Command {
  const authority = { ...authorityFor(rows, node, options.number), ...options.tampered };
  switch (word) {
    case 'accept':
      return { type: 'AcceptLease', authority };
    case 'decline':
      return { type: 'RejectLease', authority, message: options.message ?? null };
    case 'start':
      return { type: 'StartWork', authority };
    case 'finish':
      return { type: 'FinishWork', authority, exit: { code: 0, signal: null } };
    case 'complete':
      return {
        type: 'CompleteAttempt',
        authority,
        evidence: evidence([oneOutput], 0),
        outputsVerified: options.unverified !== true,
      };
    case 'fail':
      return {
        type: 'FailAttempt',
        authority,
        evidence: evidence([], 1),
        failureClass: options.failureClass ?? 'UserCommand',
        transient: options.transient ?? true,
        detail: { step: null, stepIndex: null, message: options.message ?? null },
      };
    case 'stopped':
      return { type: 'ConfirmTermination', authority, evidence: evidence([], 130) };
  }
}

export function say(world: World, word: RunnerWord, node: string, options: MessageOptions = {}): Decision {
  const command = runnerMessage(world, word, node, options);
  return world.submit(command, `runner:${'authority' in command ? command.authority.runner : ''}`);
}

export function grantCommand(
  world: Rows & Pick<World, 'nextId'>,
  node: string,
  session = 'ada',
  capabilities: readonly string[] = [],
): Command {
  return {
    type: 'GrantLease',
    job: jobOf(world, node).id,
    attempt: world.nextId(),
    lease: world.nextId(),
    runner: runnerOf(session),
    session: sessionOf(session),
    capabilities,
  };
}

export const grant = (world: World, node: string, session?: string, capabilities?: readonly string[]): Decision =>
  world.submit(grantCommand(world, node, session, capabilities), 'system:scheduler');

export type Phase = 'Leased' | 'Preparing' | 'Running' | 'UploadingOutputs';
const steps = ['accept', 'start', 'finish'] as const;
const phases: readonly Phase[] = ['Leased', 'Preparing', 'Running', 'UploadingOutputs'];

/** Grants the job and brings its new attempt to a phase. */
export function bringTo(world: World, node: string, phase: Phase, session?: string): void {
  expectAccepted(grant(world, node, session), `grant ${node}`);
  for (const word of steps.slice(0, phases.indexOf(phase))) expectAccepted(say(world, word, node), `${word} ${node}`);
}

/** One whole attempt that succeeds. */
export function succeed(world: World, node: string, session?: string): Decision {
  bringTo(world, node, 'UploadingOutputs', session);
  return expectAccepted(say(world, 'complete', node), `complete ${node}`);
}

/** One whole attempt that fails while it runs. */
export function failing(world: World, node: string, failureClass?: FailureClass, transient?: boolean): Decision {
  bringTo(world, node, 'Running');
  const options = {
    ...(failureClass === undefined ? {} : { failureClass }),
    ...(transient === undefined ? {} : { transient }),
  };
  return expectAccepted(say(world, 'fail', node, options), `fail ${node}`);
}

export function expectAccepted(decision: Decision, what: string): Decision {
  if (decision.outcome === 'accepted') return decision;
  throw new Error(`${what}: ${decision.outcome} ${decision.code}`);
}

export const cancelRun: Command = { type: 'CancelRun', message: null };
export const cancelJob = (rows: Rows, node: string): Command => ({
  type: 'CancelJob',
  job: idOf<JobId>(jobOf(rows, node).id),
  message: null,
});
export const skipJob = (rows: Rows, node: string, message: string | null = null): Command => ({
  type: 'SkipJob',
  job: jobOf(rows, node).id,
  message,
});
export const decideGate = (rows: Rows, node: string, verdict: 'approve' | 'reject'): Command => ({
  type: 'DecideGate',
  gate: idOf<GateId>(gateOf(rows, node).id),
  verdict,
  message: null,
});
export const expireLease = (rows: Rows, node: string, number?: number): Command => ({
  type: leaseOf(rows, node, number).state === 'Offered' ? 'ExpireOffer' : 'ExpireLease',
  job: jobOf(rows, node).id,
  lease: leaseOf(rows, node, number).id,
});
