/** The words of scenario commands. Each gives a command for the engine, by the rows as they are. */
import type { Command, FailureClass } from '../../machines/index.ts';
import { failureClasses } from '../../machines/index.ts';
import type { MessageOptions, RunnerWord } from '../core/index.ts';
import {
  attemptOf,
  cancelJob,
  cancelRun,
  decideGate,
  expireLease,
  gateOf,
  grantCommand,
  idOf,
  jobOf,
  leaseOf,
  oneOutput,
  runnerMessage,
  sessionOf,
  skipJob,
} from '../core/index.ts';
import type { EngineRows, ScenarioEngine } from './engine.ts';

export interface Said {
  readonly command: Command;
  readonly actor: string;
}

const runnerWords: readonly RunnerWord[] = ['accept', 'decline', 'start', 'finish', 'complete', 'fail', 'stopped'];
const runnerWord = (word: string): RunnerWord | undefined => runnerWords.find((one) => one === word);

const control = (command: Command): Said => ({ command, actor: 'system:control' });
const user = (command: Command): Said => ({ command, actor: 'user:ada' });

/** `30s`, `1500ms`, `2m`. */
export function milliseconds(text: string): number {
  const found = /^(\d+)(ms|s|m|h)$/.exec(text);
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
  if (found === null) throw new Error(`not a time: ${text}`);
  return Number(found[1]) * (units[found[2] ?? ''] ?? 0);
}

/** `build` or `build#2`. */
function target(text: string): { readonly node: string; readonly number: number | undefined } {
  const [node = '', number] = text.split('#');
  return { node, number: number === undefined ? undefined : Number(number) };
}

/**
 * What a line says:
 *   grant JOB to SESSION | accept, decline, start, finish, complete, fail, stopped JOB[#n] [options]
 *   expire JOB[#n] | time out PHASE JOB[#n] | queue timeout JOB | retry JOB | deadline | expire gate GATE
 *   cancel run | cancel JOB | skip JOB | supersede | priority N | approve GATE | reject GATE | revoke JOB
 *   cache hit JOB | resolve JOB | judge NODE… | credit N gap TIME
 * Options: CLASS, permanent, unverified, as SESSION, epoch N, spec other.
 */
export function saying(engine: ScenarioEngine, rows: EngineRows, words: readonly string[]): Said {
  const [verb = '', first = '', second = '', third = ''] = words;
  const word = runnerWord(verb);
  if (word !== undefined) return runnerSaying(rows, word, first, words.slice(2));
  const { node, number } = target(first);
  switch (verb) {
    case 'grant': {
      const grant = grantCommand({ ...rows, nextId: engine.nextId }, first, third, jobOf(rows, first).capabilities);
      return { command: grant, actor: 'system:scheduler' };
    }
    case 'expire':
      return control(
        first === 'gate' ? { type: 'ExpireGate', gate: gateOf(rows, second).id } : expireLease(rows, node, number),
      );
    case 'time':
      return timeOut(rows, second, third);
    case 'queue':
      return control({ type: 'ReachQueueTimeout', job: jobOf(rows, second).id });
    case 'retry':
      return control({ type: 'ReachRetryTime', job: jobOf(rows, first).id });
    case 'deadline':
      return control({ type: 'ReachRunDeadline' });
    case 'cancel':
      return user(first === 'run' ? cancelRun : cancelJob(rows, first));
    case 'skip':
      return user(skipJob(rows, first));
    case 'supersede':
      return user({ type: 'SupersedeRun', by: idOf('00000000-0000-7000-8000-00000000aaaa') });
    case 'priority':
      return user({ type: 'ChangePriority', priority: Number(first) });
    case 'approve':
    case 'reject':
      return user(decideGate(rows, first, verb));
    case 'revoke':
      return control({ type: 'RevokeLease', job: jobOf(rows, node).id, lease: leaseOf(rows, node, number).id });
    case 'cache':
      return control({ type: 'ResolveCacheHit', job: jobOf(rows, second).id, outputs: [oneOutput] });
    case 'resolve':
      return control({ type: 'ResolveLost', job: jobOf(rows, first).id });
    case 'judge':
      return control({ type: 'JudgeNodes', nodes: words.slice(1).map((name) => rows.row(name).index) });
    case 'credit': {
      const gapMs = milliseconds(third);
      return control({ type: 'CreditOutage', credit: Number(first), gapStart: engine.now - gapMs, gapMs });
    }
    default:
      throw new Error(`no scenario command begins with "${verb}"`);
  }
}

function timeOut(rows: EngineRows, phase: string, job: string): Said {
  if (phase !== 'preparation' && phase !== 'execution' && phase !== 'upload') throw new Error(`no phase ${phase}`);
  const { node, number } = target(job);
  const attempt = attemptOf(rows, node, number);
  return control({ type: 'ReachPhaseTimeout', job: attempt.jobId, attempt: attempt.id, phase });
}

function runnerSaying(rows: EngineRows, word: RunnerWord, of: string, words: readonly string[]): Said {
  const { node, number } = target(of);
  let options: MessageOptions = { number };
  for (let at = 0; at < words.length; at += 1) {
    const [option = '', value = ''] = words.slice(at);
    const failureClass = failureClassOf(option);
    if (failureClass !== undefined) options = { ...options, failureClass };
    else if (option === 'permanent') options = { ...options, transient: false };
    else if (option === 'unverified') options = { ...options, unverified: true };
    else {
      at += 1;
      options = { ...options, tampered: { ...options.tampered, ...tampering(option, value) } };
    }
  }
  return { command: runnerMessage(rows, word, node, options), actor: `runner:${attemptOf(rows, node, number).runner}` };
}

const failureClassOf = (text: string): FailureClass | undefined => failureClasses.find((one) => one === text);

function tampering(option: string, value: string): MessageOptions['tampered'] {
  switch (option) {
    case 'as':
      return { session: sessionOf(value) };
    case 'epoch':
      return { epoch: Number(value) };
    case 'spec':
      return { specDigest: idOf(`sha256:${'0'.repeat(64)}`) };
    default:
      throw new Error(`a runner message has no option "${option}"`);
  }
}
