/** The runner protocol, answered: every message becomes a command, a renewal or a session change (000 §113-114, §183-193). */
import type {
  Command,
  Digest,
  Evidence,
  FailureClass,
  MessageId,
  OutputRef,
  Reply,
  RunId,
  SessionId,
  SessionRow,
} from '../../machines/index.ts';
import { failureClasses } from '../../machines/index.ts';
import type { RunnerReply, RunnerRequest, RunnerRequestOf } from '../../runner/protocol/index.ts';
import type { ActorRef, AttemptProgress, CommandResult, RunnerGateway } from '../api.ts';
import type { Directory } from '../directory.ts';
import type { Ports } from '../ports.ts';
import type { SessionCache } from '../sessions.ts';
import type { Submit } from '../submit.ts';
import type { Grants } from './grants.ts';
import { answerInputs } from './inputs.ts';
import { renewAttempts } from './renewals.ts';
import type { SessionService } from './session-service.ts';
import { rejected, toAuthority, toWire } from './wire.ts';

export interface GatewayPorts extends Ports {
  readonly sessions: SessionCache;
  readonly sessionService: SessionService;
  readonly grants: Grants;
  readonly submit: Submit;
  readonly onProgress: (progress: AttemptProgress) => void;
  readonly ensureBeat: () => Promise<void>;
}

type Attempting = RunnerRequestOf<'accept' | 'reject' | 'start' | 'finish' | 'complete' | 'fail' | 'terminated'>;

export function createGateway(ports: GatewayPorts, directory: Directory): RunnerGateway & { ring(): void } {
  const listeners = new Set<() => void>();

  const attemptMessage = async (message: Attempting): Promise<RunnerReply> => {
    const command = await commandOf(ports, message);
    if (command === null) return rejected('InvalidCommand', 'unknown failure class');
    const result = await ports.submit({
      run: message.authority.run as RunId,
      command,
      permission: 'runner.connect',
      audit: null,
      options: { actor: runnerActor(message.authority.runner), messageId: message.messageId as MessageId },
    });
    return replyTo(result, ports.store.now());
  };

  const pollOf = async (session: SessionRow, max: number): Promise<RunnerReply> => {
    switch (session.state) {
      case 'Active':
        await ports.store.touchSession(session.id);
        return { type: 'offers', ...(await ports.grants.offersFor(session, max)) };
      case 'Draining':
        await ports.store.touchSession(session.id);
        return { type: 'offers', offers: [] };
      // The agent may come back as a new session, but not against the one that took its place.
      case 'Closed':
        return rejected('SessionNotActive', `the session was closed: ${session.reason ?? 'no reason is known'}`);
      case 'Replaced':
        return rejected('Stale', 'a newer session of this runner has taken over');
    }
  };

  const request = async (message: RunnerRequest): Promise<RunnerReply> => {
    switch (message.type) {
      case 'hello':
        return ports.sessionService.hello(message);
      case 'poll': {
        const session = await ports.sessions.get(message.session as SessionId);
        if (session === null || session.runner !== message.runner) return rejected('Foreign', 'say hello first');
        return pollOf(session, message.max);
      }
      case 'inputs':
        return answerInputs(ports, directory, message);
      case 'heartbeat':
        await ports.store.touchSession(message.session as SessionId);
        return { type: 'directives', directives: await renewAttempts(ports, directory, message, message.attempts) };
      case 'resync':
        return {
          type: 'directives',
          directives: await renewAttempts(
            ports,
            directory,
            message,
            message.attempts.map((one) => one.authority),
          ),
        };
      case 'drain':
        return ports.sessionService.drain(message.session as SessionId, message.runner);
      case 'bye':
        return ports.sessionService.close(message.session as SessionId, message.runner, 'bye');
      case 'progress':
        ports.onProgress({
          runId: message.authority.run as RunId,
          jobId: toAuthority(message.authority).job,
          step: message.step,
          fraction: message.fraction,
        });
        return { type: 'ok' };
      case 'accept':
      case 'reject':
      case 'start':
      case 'finish':
      case 'complete':
      case 'fail':
      case 'terminated':
        return attemptMessage(message);
    }
  };

  return {
    request,
    onWork(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ring() {
      for (const listener of listeners) listener();
    },
  };
}

const runnerActor = (runner: string): ActorRef => ({
  id: `runner:${runner}`,
  permissions: new Set(['runner.connect'] as const),
});

async function commandOf(ports: GatewayPorts, message: Attempting): Promise<Command | null> {
  const authority = toAuthority(message.authority);
  switch (message.type) {
    case 'accept':
      return { type: 'AcceptLease', authority };
    case 'reject':
      return { type: 'RejectLease', authority, message: message.message ?? message.reason };
    case 'start':
      return { type: 'StartWork', authority };
    case 'finish':
      return { type: 'FinishWork', authority, exit: message.exit };
    case 'complete': {
      const evidence = evidenceOf(message, message.outputs, message.exit);
      const { missing, corrupt } = await ports.verifier.verify([...evidence.outputs, ...evidence.reports]);
      return {
        type: 'CompleteAttempt',
        authority,
        evidence,
        outputsVerified: missing.length === 0 && corrupt.length === 0,
      };
    }
    case 'fail': {
      const failureClass = failureClasses.find((one): one is FailureClass => one === message.failureClass);
      if (failureClass === undefined) return null;
      const { transient, detail } = message;
      return {
        type: 'FailAttempt',
        authority,
        failureClass,
        transient,
        detail,
        evidence: evidenceOf(message, [], message.exit),
      };
    }
    case 'terminated':
      return { type: 'ConfirmTermination', authority, evidence: evidenceOf(message, [], message.exit) };
  }
}

function evidenceOf(
  message: RunnerRequestOf<'complete' | 'fail' | 'terminated'>,
  outputs: RunnerRequestOf<'complete'>['outputs'],
  exit: Evidence['exit'],
): Evidence {
  return { exit, outputs: outputs.map(toOutput), reports: message.reports.map(toOutput), log: message.log };
}

const toOutput = (wire: RunnerRequestOf<'complete'>['outputs'][number]): OutputRef => ({
  ...wire,
  digest: wire.digest as Digest,
});

function replyTo(result: CommandResult, now: number): RunnerReply {
  if (result.outcome === 'rejected') {
    const stale = result.code === 'Stale' || result.code === 'LeaseExpired' || result.code === 'UnknownEntity';
    return stale ? { type: 'directive', directive: { kind: 'stale' } } : rejected(result.code, result.detail);
  }
  return fromReply(result.reply, now);
}

function fromReply(reply: Reply, now: number): RunnerReply {
  if (reply.kind === 'directive') return { type: 'directive', directive: toWire(reply.directive, now) };
  return { type: 'ok' };
}
