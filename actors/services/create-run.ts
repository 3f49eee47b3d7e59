/** Creates a run from a compiled plan, once per request id (000 §219-223, §375.1). */
import type { RunId, RunRow } from '../../machines/index.ts';
import { decideContext, decideCreate } from '../../machines/index.ts';
import type { RunCommit, StoredFact } from '../../store/index.ts';
import type { CreateRunRequest, CreateRunResult } from '../api.ts';
import { isAllowed } from '../authorise.ts';
import type { Committer } from '../committer.ts';
import type { Directory } from '../directory.ts';
import { internal } from '../envelope.ts';
import type { Heartbeat } from '../heartbeat.ts';
import type { Ports } from '../ports.ts';
import { storedFacts } from '../stored-facts.ts';
import { recordDenial } from '../submit.ts';
import { supersedeOlder } from './supersede.ts';

export interface CreateRunPorts extends Ports {
  readonly committer: Committer;
  readonly heartbeat: Heartbeat;
  readonly onCreated: (facts: readonly StoredFact[], commit: RunCommit) => void;
}

export async function createRun(
  ports: CreateRunPorts,
  directory: Directory,
  request: CreateRunRequest,
): Promise<CreateRunResult> {
  const { actor, plan } = request;
  if (!isAllowed(actor, 'run.create')) {
    await recordDenial(ports, actor, { action: 'run.create', run: null, entity: plan.project });
    return { outcome: 'rejected', code: 'NotAllowed', detail: `${actor.id} lacks run.create` };
  }
  return createAllowedRun(ports, directory, request);
}

/** The request has been authorised: as a new run, or as the rerun of an old one. */
export async function createAllowedRun(
  ports: CreateRunPorts,
  directory: Directory,
  request: CreateRunRequest,
): Promise<CreateRunResult> {
  const { actor, plan } = request;
  const requestId = request.requestId ?? ports.ids.uuid();
  const known = await findExisting(ports, request, requestId);
  if (known !== null) return takeUp(ports, directory, request, known);
  const runId = ports.ids.uuid() as RunId;
  const { commit, judge } = firstCommit(ports, request, runId, requestId);
  const outcome = await ports.committer.commit(commit);
  switch (outcome.kind) {
    case 'committed':
      break;
    case 'exists':
    case 'duplicate':
    case 'conflict':
    case 'unknown': {
      const found = await findExisting(ports, request, requestId);
      if (found === null) return createAllowedRun(ports, directory, { ...request, requestId });
      if ('code' in found || found.run.id !== runId) return takeUp(ports, directory, request, found);
      break;
    }
    case 'failed':
      throw outcome.cause;
  }
  ports.onCreated(commit.facts, commit);
  if (judge.length > 0) {
    directory
      .actor(runId)
      .send(internal({ type: 'JudgeNodes', nodes: judge }, 'system:follow-up'))
      .catch((error: unknown) => ports.report('follow-up', error));
  }
  return {
    outcome: 'created',
    runId,
    superseded: await supersedeOlder(ports, directory, commit.run, plan, { actor: actor.id }),
  };
}

type Refused = Extract<CreateRunResult, { readonly outcome: 'rejected' }>;

/** A request id names one run: the same plan gets it back, another plan is refused (S39). */
async function findExisting(
  ports: Ports,
  request: CreateRunRequest,
  requestId: string,
): Promise<Refused | { readonly run: RunRow } | null> {
  const run = await ports.store.findRunByRequest(request.plan.project, requestId);
  if (run === null) return null;
  if (run.planDigest === request.planDigest) return { run };
  const detail = `request ${requestId} created run ${run.id} from another plan`;
  return { outcome: 'rejected', code: 'RunExists', detail };
}

/** The first request may have died before it ended the older runs of the group. */
async function takeUp(
  ports: Ports,
  directory: Directory,
  request: CreateRunRequest,
  found: Refused | { readonly run: RunRow },
): Promise<CreateRunResult> {
  if ('code' in found) return found;
  const { run } = found;
  if (run.finishedAt === null) await supersedeOlder(ports, directory, run, request.plan, { actor: request.actor.id });
  return { outcome: 'existing', runId: run.id };
}

function firstCommit(ports: CreateRunPorts, request: CreateRunRequest, runId: RunId, requestId: string) {
  const context = decideContext({
    now: ports.store.now(),
    actor: request.actor.id,
    random: ports.random,
    creditSequence: ports.heartbeat.creditSequence,
    limits: ports.limits,
  });
  const { changes, nodes } = decideCreate(
    {
      runId,
      plan: request.plan,
      planDigest: request.planDigest,
      requestId,
      tenant: request.tenant ?? 'default',
      rerunOf: request.rerunOf ?? null,
      nodeIds: request.plan.nodes.map(() => ports.ids.uuid()),
    },
    context,
  );
  const commit: RunCommit = {
    runId,
    expectedSequence: 0,
    create: { plan: request.plan, planDigest: request.planDigest },
    run: changes.run,
    jobs: nodes.filter((row) => row.kind === 'job'),
    gates: nodes.filter((row) => row.kind === 'gate'),
    attempts: [],
    leases: [],
    facts: storedFacts(
      changes.facts,
      { runId, actor: request.actor.id, correlationId: null, causationId: null },
      ports.ids,
    ),
    timers: { ...changes.timers, fired: [] },
    guards: [],
    receipts: [],
    audit: [],
  };
  return { commit, judge: changes.judge };
}
