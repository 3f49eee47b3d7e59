/** The services of 000 §105-106 over `submit`: each names its command, its permission and its audit entry. */
import type { RunId } from '../../machines/index.ts';
import type { CreateRunResult, GateService, JobService, RunService } from '../api.ts';
import { isAllowed } from '../authorise.ts';
import type { Directory } from '../directory.ts';
import { reconcileOne } from '../loops/reconciler.ts';
import type { SessionCache } from '../sessions.ts';
import type { Submit } from '../submit.ts';
import { recordDenial } from '../submit.ts';
import type { CreateRunPorts } from './create-run.ts';
import { createAllowedRun, createRun } from './create-run.ts';

export function createRunService(
  ports: CreateRunPorts & { readonly sessions: SessionCache },
  directory: Directory,
  submit: Submit,
): RunService {
  return {
    create: (request) => createRun(ports, directory, request),
    cancel: (run, options) =>
      submit({
        run,
        command: { type: 'CancelRun', message: options.message ?? null },
        permission: 'run.cancel',
        audit: { action: 'run.cancel', entity: run },
        options,
      }),
    changePriority: (run, priority, options) =>
      submit({
        run,
        command: { type: 'ChangePriority', priority },
        permission: 'run.priority',
        audit: { action: 'run.priority', entity: run },
        options,
      }),
    async retry(run, options): Promise<CreateRunResult> {
      if (!isAllowed(options.actor, 'run.retry')) {
        await recordDenial(ports, options.actor, { action: 'run.retry', run, entity: run });
        return { outcome: 'rejected', code: 'NotAllowed', detail: `${options.actor.id} lacks run.retry` };
      }
      const old = await ports.store.load(run);
      if (old === null) return { outcome: 'rejected', code: 'UnknownEntity', detail: `there is no run ${run}` };
      const requestId = options.messageId === undefined ? {} : { requestId: options.messageId };
      return createAllowedRun(ports, directory, {
        actor: options.actor,
        plan: old.plan,
        planDigest: old.run.planDigest,
        tenant: old.run.tenant,
        rerunOf: run,
        ...requestId,
      });
    },
    async reconcile(run, options) {
      if (!isAllowed(options.actor, 'run.repair')) {
        await recordDenial(ports, options.actor, { action: 'run.repair', run, entity: run });
        return { checked: 0, repaired: 0, deferred: 0, issues: [] };
      }
      const asked = { message: options.message ?? null };
      return reconcileOne(ports, directory, run, { dryRun: options.dryRun, actor: options.actor.id, asked });
    },
  };
}

export function createJobService(directory: Directory, submit: Submit): JobService {
  return {
    cancel: (run, job, options) =>
      submit({
        run,
        command: { type: 'CancelJob', job, message: options.message ?? null },
        permission: 'job.cancel',
        audit: { action: 'job.cancel', entity: job },
        options,
      }),
    skip: (run, job, options) =>
      submit({
        run,
        command: { type: 'SkipJob', job, message: options.message ?? null },
        permission: 'job.skip',
        audit: { action: 'job.skip', entity: job },
        options,
      }),
    async markEligible(run: RunId, job, options) {
      const judge = (nodes: readonly number[]) =>
        submit({
          run,
          command: { type: 'JudgeNodes', nodes },
          permission: 'run.repair',
          audit: { action: 'job.judge', entity: job },
          options,
        });
      // Refused and recorded by `submit`, before anything is looked up: who may not ask learns nothing of the run.
      if (!isAllowed(options.actor, 'run.repair')) return judge([]);
      const index = await directory.actor(run).read((aggregate) => aggregate.findJob(job) ?? null);
      if (index === null) return { outcome: 'rejected', code: 'UnknownEntity', detail: `run ${run} has no job ${job}` };
      return judge([index]);
    },
  };
}

export function createGateService(submit: Submit): GateService {
  return {
    decide: (run, gate, verdict, options) =>
      submit({
        run,
        command: { type: 'DecideGate', gate, verdict, message: options.message ?? null },
        permission: 'gate.decide',
        audit: { action: `gate.${verdict}`, entity: gate },
        options,
      }),
  };
}
