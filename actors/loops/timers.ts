/**
 * Durable timers: claims what is due, issues the command, and lets the row become Fired in that command's commit
 * (003 §76-83). A deadline that moved (a renewed lease) is armed again; firing twice changes nothing.
 */
import { standingDueAt, timerCommand } from '../../machines/index.ts';
import type { ClaimedTimer } from '../../store/index.ts';
import type { Directory } from '../directory.ts';
import { internal } from '../envelope.ts';
import type { Ports } from '../ports.ts';

/** Timers claimed at once, and ms before another process may claim them again. */
const claimMax = 256;
const claimMs = 30_000;
/** ms before a timer that could not be fired is tried again. */
const retryMs = 1_000;

/** Fires everything that is due; gives the number fired. */
export async function fireDueTimers(ports: Ports, directory: Directory): Promise<number> {
  let fired = 0;
  for (;;) {
    const claimed = await ports.store.claimTimers({ limit: claimMax, claimMs, token: ports.ids.uuid() });
    if (claimed.length === 0) return fired;
    ports.failpoint('timer:after-claim');
    await Promise.all(claimed.map((timer) => fireAlone(ports, directory, timer)));
    fired += claimed.length;
    if (claimed.length < claimMax) return fired;
  }
}

/** One timer that cannot be fired keeps no other from it, and is tried again. */
async function fireAlone(ports: Ports, directory: Directory, timer: ClaimedTimer): Promise<void> {
  try {
    await fire(ports, directory, timer);
  } catch (error) {
    ports.report(`timer ${timer.deadline.key} of run ${timer.runId}`, error);
    await tryLater(ports, timer).catch((cause: unknown) => ports.report('timers', cause));
  }
}

/** Nobody has judged it. If its command went through after all, the row is Fired and the token fits no more. */
async function tryLater(ports: Ports, { runId, token, deadline }: ClaimedTimer): Promise<void> {
  await ports.store.settleTimers([{ runId, token, key: deadline.key, rearmAt: ports.store.now() + retryMs }]);
}

async function fire(ports: Ports, directory: Directory, timer: ClaimedTimer): Promise<void> {
  const claim = { key: timer.deadline.key, token: timer.token };
  const command = timerCommand(timer.deadline);
  const result = await directory.actor(timer.runId).send(internal(command, 'system:timers', { timer: claim }));
  ports.failpoint('timer:after-command');
  if (result.outcome === 'accepted') return;
  if (result.outcome === 'rejected' && result.code === 'Overloaded') return tryLater(ports, timer);
  // Renewals move a deadline without touching its timer: the rows say where it is now.
  const moved = result.outcome === 'no-op' && result.code === 'NotDue';
  const actor = directory.actor(timer.runId);
  const rearmAt = moved ? await actor.read((aggregate) => standingDueAt(aggregate, timer.deadline)) : null;
  await ports.store.settleTimers([{ runId: timer.runId, ...claim, rearmAt }]);
}
