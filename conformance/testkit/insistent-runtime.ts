/**
 * A runtime whose callers ask again, with the same message id, when the store could not be reached. On a sound store
 * it is the runtime itself.
 */
import type { CommandOptions, Ids, Runtime } from '../../actors/index.ts';
import type { MessageId } from '../../machines/index.ts';
import { idOf } from '../core/index.ts';
import { insist } from './insist.ts';

export function insistentRuntime(runtime: Runtime, ids: Ids): Runtime {
  const named = <T extends CommandOptions>(options: T): T & { readonly messageId: MessageId } => ({
    ...options,
    messageId: options.messageId ?? idOf<MessageId>(ids.uuid()),
  });
  const { runs, jobs, gates } = runtime;
  return {
    ...runtime,
    runs: {
      create(request) {
        const requestId = request.requestId ?? ids.uuid();
        return insist(() => runs.create({ ...request, requestId }));
      },
      cancel(run, options) {
        const once = named(options);
        return insist(() => runs.cancel(run, once));
      },
      changePriority(run, priority, options) {
        const once = named(options);
        return insist(() => runs.changePriority(run, priority, once));
      },
      retry(run, options) {
        const once = named(options);
        return insist(() => runs.retry(run, once));
      },
      reconcile: (run, options) => insist(() => runs.reconcile(run, options)),
    },
    jobs: {
      cancel(run, job, options) {
        const once = named(options);
        return insist(() => jobs.cancel(run, job, once));
      },
      skip(run, job, options) {
        const once = named(options);
        return insist(() => jobs.skip(run, job, once));
      },
      markEligible(run, job, options) {
        const once = named(options);
        return insist(() => jobs.markEligible(run, job, once));
      },
    },
    gates: {
      decide(run, gate, verdict, options) {
        const once = named(options);
        return insist(() => gates.decide(run, gate, verdict, once));
      },
    },
    start: () => insist(() => runtime.start()),
    tick: () => insist(() => runtime.tick()),
    closeSession: (session, reason) => insist(() => runtime.closeSession(session, reason)),
  };
}
