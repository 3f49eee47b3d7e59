/** An offer's way: judge, accept or reject, and after the acceptance run the attempt. */
import { localDeadline } from '../lease/keeper.ts';
import type { Offer, RunnerRequest } from '../protocol/index.ts';
import type { ActiveAttempts } from './active-attempts.ts';
import { runAttempt } from './attempt.ts';
import type { AttemptContext, AttemptServices } from './attempt-context.ts';
import { attemptId, authorised, failpoint } from './attempt-context.ts';
import { createAttemptControl } from './attempt-control.ts';
import type { AttemptEnd } from './events.ts';
import type { Judged } from './judge-offer.ts';
import { judgeOffer } from './judge-offer.ts';
import { messageOf } from './outcome.ts';
import type { SeenAttempts } from './seen-attempts.ts';

export interface OfferDesk {
  readonly services: AttemptServices;
  readonly active: ActiveAttempts;
  readonly draining: () => boolean;
  readonly stopped: AbortSignal;
  /** Attempts that were asked for before: an offer that comes again late must not run one twice. */
  readonly accepted: SeenAttempts;
}

export async function takeOffer(desk: OfferDesk, offer: Offer): Promise<void> {
  const { services, active } = desk;
  const attempt = offer.authority.attempt;
  // Offers are repeated until they are answered.
  if (active.all.has(attempt) || desk.accepted.has(attempt)) return;
  const control = createAttemptControl((phase) => services.options.onEvent({ kind: 'phaseEntered', attempt, phase }));
  const slotsFree = services.options.slots - active.all.size;
  const done = Promise.resolve().then(async () => {
    const judged = await judgeOffer(offer, { ...services, draining: desk.draining(), slotsFree }).catch(undecided);
    if (judged.kind === 'refuses') return await reject(desk, offer, judged);
    await accept(desk, { ...services, offer, spec: judged.spec, control, sent: [] });
  });
  // A slot is taken from the first look on, so that two offers cannot both see the last one free.
  active.add({
    authority: offer.authority,
    control,
    done: done.catch((cause: unknown) => failedOffer(desk, attempt, cause)),
  });
  await done;
}

async function reject(desk: OfferDesk, offer: Offer, judged: Extract<Judged, { kind: 'refuses' }>): Promise<void> {
  const { services } = desk;
  const { reason, message } = judged;
  services.options.onEvent({ kind: 'offerRefused', attempt: offer.authority.attempt, reason, message });
  await askWithin(desk, offer, { type: 'reject', ...authorised({ ...services, offer }), reason, message });
}

async function accept(desk: OfferDesk, context: AttemptContext): Promise<void> {
  const { options, keeper } = context;
  const { authority, jobName } = context.offer;
  await failpoint(context, 'offerReceived');
  desk.accepted.add(authority.attempt);
  const message: RunnerRequest = { type: 'accept', ...authorised(context) };
  const answer = await askWithin(desk, context.offer, message);
  const directive = answer?.reply.type === 'directive' ? answer.reply.directive : null;
  if (answer === null || directive === null || directive.kind === 'stale') {
    const code = answer?.reply.type === 'rejected' ? answer.reply.code : 'the offer is no longer open';
    options.onEvent({ kind: 'offerRefused', attempt: authority.attempt, reason: 'NotGranted', message: code });
    return;
  }
  context.sent.push(message);
  const deadline = localDeadline(answer.sentAt, directive.leaseMs);
  context.control.extendDeadline(deadline);
  keeper.watch(authority, deadline);
  options.onEvent({ kind: 'attemptAccepted', attempt: authority.attempt, jobName });
  if (directive.kind === 'cancel') {
    context.control.halt({ kind: 'cancel', intent: directive.intent, confirmed: false });
  }
  await failpoint(context, 'accepted');
  let end: AttemptEnd = { kind: 'abandoned', why: 'the runner failed' };
  try {
    end = await runAttempt(context);
  } catch (cause) {
    end = { kind: 'abandoned', why: `the runner failed: ${messageOf(cause)}` };
  } finally {
    keeper.unwatch(attemptId(context));
    options.onEvent({ kind: 'attemptEnded', attempt: attemptId(context), end });
  }
}

/** Asks as long as the offer can still be open. */
async function askWithin({ services, stopped }: OfferDesk, offer: Offer, message: RunnerRequest) {
  const closed = new AbortController();
  const cancelTimer = services.options.clock.setTimer(() => closed.abort(), offer.offerMs);
  try {
    return await services.connection.ask(message, AbortSignal.any([closed.signal, stopped]));
  } finally {
    cancelTimer();
  }
}

/** E.g. the state folder is gone: another runner may do better. */
function undecided(cause: unknown): Judged {
  return { kind: 'refuses', reason: 'LocalFailure', message: messageOf(cause).slice(0, 1_000) };
}

function failedOffer({ services }: OfferDesk, attempt: string, cause: unknown): void {
  services.options.onEvent({ kind: 'offerRefused', attempt, reason: 'LocalFailure', message: messageOf(cause) });
}
