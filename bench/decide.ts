/** How many commands a second the pure core decides, through the whole life of jobs: grant to success. */
import type {
  AttemptId,
  Authority,
  Command,
  DecideContext,
  Digest,
  JobId,
  LeaseId,
  RunAggregate,
  RunId,
} from '../machines/index.ts';
import { absorb, decide, decideContext, decideCreate, genesis } from '../machines/index.ts';
import { job, planOf } from '../machines/plan/index.ts';

export interface DecideFigures {
  /** Decisions a second on one core, each absorbed into the state. */
  readonly decidesPerSecond: number;
}

const jobs = 500;
const digest = (text: string): Digest => `sha256:${text.length.toString(16).padStart(64, '0')}` as Digest;
const plan = planOf(
  { project: 'bench', name: 'decide' },
  Array.from({ length: jobs }, (_, at) =>
    job(`job-${at}`, at === 0 ? {} : { needs: [`job-${Math.floor((at - 1) / 2)}`] }),
  ),
  digest,
);

export function benchDecide(durationMs = 1_000): DecideFigures {
  // The first lives are for the compiler.
  for (let warm = 0; warm < 3; warm += 1) oneRun();
  let decided = 0;
  const begin = performance.now();
  let elapsed = 0;
  while (elapsed < durationMs) {
    decided += oneRun();
    elapsed = performance.now() - begin;
  }
  return { decidesPerSecond: (decided / elapsed) * 1_000 };
}

/** Brings every job of the plan from grant to success; gives the number of decisions. */
function oneRun(): number {
  const context = decideContext({ now: 1_000, actor: 'system:bench', random: () => 0.5 });
  const create = {
    runId: 'run' as RunId,
    plan,
    planDigest: digest('plan'),
    requestId: 'request',
    tenant: 'bench',
    rerunOf: null,
    nodeIds: plan.nodes.map(({ name }) => `id-${name}`),
  };
  const state = genesis(create, context);
  absorb(state, decideCreate(create, context).changes);
  let decided = 0;
  for (let at = 0; at < plan.nodes.length; at += 1) decided += oneLife(state, context, at);
  if (state.run.state !== 'Succeeded') throw new Error(`the run is ${state.run.state}`);
  return decided;
}

function oneLife(state: RunAggregate, context: DecideContext, at: number): number {
  const { id, specDigest, leaseEpoch } = state.job(at);
  const authority: Authority = {
    job: id as JobId,
    attempt: `attempt-${at}` as AttemptId,
    lease: `lease-${at}` as LeaseId,
    epoch: leaseEpoch + 1,
    runner: 'runner' as Authority['runner'],
    session: 'session' as Authority['session'],
    specDigest,
  };
  const evidence = { exit: { code: 0, signal: null }, outputs: [], reports: [], log: null };
  const life: readonly Command[] = [
    { type: 'GrantLease', ...authority, capabilities: [] },
    { type: 'AcceptLease', authority },
    { type: 'StartWork', authority },
    { type: 'FinishWork', authority, exit: evidence.exit },
    { type: 'CompleteAttempt', authority, evidence, outputsVerified: true },
  ];
  for (const command of life) {
    const decision = decide(state, command, context);
    if (decision.outcome !== 'accepted') throw new Error(`${command.type}: ${decision.outcome} ${decision.code}`);
    absorb(state, decision.changes);
  }
  return life.length;
}
