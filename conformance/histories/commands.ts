/** What a drawn step does to a world: the next thing that makes sense, or something nobody should do. */
import type { Authority, Command, FailureClass, GateRow, JobRow } from '../../machines/index.ts';
import { timerCommand } from '../../machines/index.ts';
import type { RunnerWord, World } from '../core/index.ts';
import {
  cancelRun,
  decideGate,
  fakeDigest,
  grantCommand,
  idOf,
  oneOutput,
  runnerMessage,
  sessionOf,
} from '../core/index.ts';
import type { Draw } from './draws.ts';
import { pick } from './draws.ts';

export interface Issued {
  readonly command: Command;
  readonly actor: string;
}

const sessions = ['ada', 'bob', 'bob.2', 'cid'] as const;
const classes: readonly FailureClass[] = [
  'UserCommand',
  'UserCommand',
  'Timeout',
  'Infrastructure',
  'OutputUpload',
  'Policy',
  'Cancelled',
];
const words: readonly RunnerWord[] = ['accept', 'decline', 'start', 'finish', 'complete', 'fail', 'stopped'];

const jobsOf = (world: World): readonly JobRow[] =>
  world.state.nodes.filter((row): row is JobRow => row.kind === 'job');
const gatesOf = (world: World): readonly GateRow[] =>
  world.state.nodes.filter((row): row is GateRow => row.kind === 'gate');

const by = (command: Command, actor = 'system:control'): Issued => ({ command, actor });
const runner = (command: Command): Issued => by(command, 'runner:x');

/** The command of a drawn step, or null where the world has nothing of the kind. */
export function commandFor(world: World, draw: Draw, said: readonly Issued[]): Issued | null {
  const { kind, which, how } = draw;
  if (kind < 40) return nextOf(world, which, how);
  if (kind < 46) return wrongWord(world, which, how);
  if (kind < 51) return tampered(world, which, how);
  if (kind < 57) return said.length === 0 ? null : pick(said, which * 24 + how);
  if (kind < 64) return timer(world, which);
  if (kind < 70) return operator(world, which, how);
  if (kind < 74) return control(world, which, how);
  if (kind < 77) return cacheOrRevoke(world, which, how);
  if (kind < 79) return world.pending.length === 0 ? null : by(pick(world.pending, 0));
  return null;
}

/** The next thing for one of the nodes that have not ended. */
function nextOf(world: World, which: number, how: number): Issued | null {
  const open = world.state.nodes.filter(({ finishedAt, state }) => finishedAt === null && state !== 'Pending');
  const chosen = which % 4 === 3 || open.length === 0 ? pick(world.state.nodes, which) : pick(open, which);
  return nextFor(world, chosen.index, how);
}

/** What would come next for a node in a world where all goes well, or nearly. */
export function nextFor(world: World, at: number, how: number): Issued | null {
  const row = world.state.node(at);
  if (row.kind === 'gate') {
    if (row.state !== 'Pending') return null;
    return by(
      decideGate(world, row.node, how % 3 === 0 ? 'reject' : 'approve'),
      how % 5 === 0 ? 'user:mallory' : 'user:eve',
    );
  }
  const say = (word: RunnerWord): Issued =>
    runner(
      runnerMessage(world, word, row.node, {
        failureClass: pick(classes, how),
        transient: how % 4 > 0,
        unverified: how % 6 === 5,
      }),
    );
  switch (row.state) {
    case 'Eligible':
      return by(grantCommand(world, row.node, pick(sessions, how), how % 7 === 6 ? [] : row.capabilities));
    case 'Leased':
      return say(how % 4 === 3 ? 'decline' : 'accept');
    case 'Preparing':
      return say(row.intent !== null && how % 2 === 0 ? 'stopped' : how % 7 === 6 ? 'fail' : 'start');
    case 'Running':
      return say(row.intent !== null && how % 3 === 0 ? 'stopped' : how % 4 === 3 ? 'fail' : 'finish');
    case 'UploadingOutputs':
      return say(how % 8 === 7 ? 'fail' : 'complete');
    case 'Lost':
      return by({ type: 'ResolveLost', job: row.id });
    default:
      return null;
  }
}

/** Any word about any attempt there ever was: stale, repeated or out of order. */
function wrongWord(world: World, which: number, how: number): Issued | null {
  const attempts = [...world.attempts.values()];
  if (attempts.length === 0) return null;
  const attempt = pick(attempts, which);
  const { node } = world.state.job(attempt.jobIndex);
  return runner(
    runnerMessage(world, pick(words, how), node, { number: attempt.number, failureClass: pick(classes, which) }),
  );
}

function tampered(world: World, which: number, how: number): Issued | null {
  const attempts = [...world.attempts.values()];
  if (attempts.length === 0) return null;
  const attempt = pick(attempts, attempts.length - 1 - (which % Math.min(3, attempts.length)));
  const { node } = world.state.job(attempt.jobIndex);
  const other = pick(attempts, which);
  const fields: readonly Partial<Authority>[] = [
    { attempt: other.id },
    { lease: other.leaseId },
    { epoch: attempt.epoch + 1 },
    { epoch: attempt.epoch - 1 },
    { session: sessionOf('mallory') },
    { runner: idOf('mallory') },
    { specDigest: fakeDigest('mallory') },
    { job: other.jobId },
  ];
  return runner(
    runnerMessage(world, pick(words, how), node, { number: attempt.number, tampered: pick(fields, which) }),
  );
}

/** Timers fire when they are due, and also when they are not. */
function timer(world: World, which: number): Issued | null {
  const timers = [...world.timers.values()];
  return timers.length === 0 ? null : by(timerCommand(pick(timers, which)), 'system:timers');
}

function operator(world: World, which: number, how: number): Issued {
  const job = pick(jobsOf(world), which);
  if (world.state.run.state === 'Cancelling' && how % 2 === 0) return by(cancelRun, 'user:ada');
  switch (how % 12) {
    case 0:
      return by(which < 6 ? cancelRun : { type: 'SkipJob', job: job.id, message: null }, 'user:ada');
    case 1:
      return which < 6
        ? by({ type: 'SupersedeRun', by: idOf('00000000-0000-7000-8000-00000000aaaa') })
        : by({ type: 'CancelJob', job: job.id, message: null }, 'user:ada');
    case 2:
    case 3:
    case 4:
      return by({ type: 'SkipJob', job: job.id, message: 'by hand' }, 'user:ada');
    case 5:
    case 6:
    case 7:
    case 8:
      return by({ type: 'CancelJob', job: job.id, message: null }, 'user:ada');
    case 9:
      return which % 2 === 0
        ? by({ type: 'ReachRunDeadline' })
        : by({ type: 'CancelJob', job: idOf('00000000-0000-7000-8000-ffffffffffff'), message: null });
    default:
      return by({ type: 'ChangePriority', priority: which % 5 === 4 ? 5_000 : which % 3 }, 'user:ada');
  }
}

function control(world: World, which: number, how: number): Issued {
  const job = pick(jobsOf(world), which);
  if (how % 4 === 0) return by({ type: 'ResolveLost', job: job.id });
  if (how % 4 === 1) return by({ type: 'JudgeNodes', nodes: world.state.nodes.map(({ index }) => index) });
  if (how % 4 === 2) return by({ type: 'JudgeNodes', nodes: [which, -1] });
  const gapMs = which * 2_000;
  return by({
    type: 'CreditOutage',
    credit: world.state.run.creditSequence + (how % 8 === 3 ? 1 : 0),
    gapStart: world.now - gapMs,
    gapMs,
  });
}

function cacheOrRevoke(world: World, which: number, how: number): Issued | null {
  const job = pick(jobsOf(world), which);
  if (how % 2 === 0) return by({ type: 'ResolveCacheHit', job: job.id, outputs: [oneOutput] });
  const leases = [...world.leases.values()];
  if (leases.length === 0) return null;
  const lease = pick(leases, leases.length - 1 - (which % leases.length));
  return by({ type: 'RevokeLease', job: lease.jobId, lease: lease.id });
}

/** Steps that no command stands for: time passes, leases are renewed, sessions come and go. */
export function passTime(world: World, draw: Draw): void {
  const { kind, which, how } = draw;
  if (kind < 90) world.now += pick([1, 1_000, 4_000, 9_999, 10_000, 20_001, 31_000, 70_000], how);
  else if (kind < 96) {
    for (const lease of [...world.state.leases.values()]) if ((how & 1) === 0 || which % 2 === 0) world.renew(lease.id);
  } else {
    const session = sessionOf(pick(sessions, which));
    if (how % 2 === 0) world.inactive.add(session);
    else world.inactive.clear();
  }
}

/** Gates nobody has asked for yet. */
export const openGates = (world: World): readonly GateRow[] =>
  gatesOf(world).filter(({ state, openedAt }) => state === 'Pending' && openedAt !== null);
