/** Why a job that could run does not run yet. */
import type { JobRow, SessionRow } from '../../machines/index.ts';
import { publicId } from '../ids/index.ts';
import { durationText } from '../views/index.ts';
import type { JobEvidence } from './explanation.ts';

interface QueueAnswer {
  readonly because: readonly string[];
  readonly next: readonly string[];
}

export function explainQueue(job: JobRow, { now, sessions, ahead, loaded }: JobEvidence): QueueAnswer {
  const because = [`ready for ${durationText(now - (job.eligibleAt ?? now))}, and no runner has taken it yet`];
  const next: string[] = [];
  const active = sessions.filter((session) => session.state === 'Active');
  const able = active.filter((session) => lacks(session, job).length === 0);
  const carry = `forgeyard run watch --resume ${publicId('run', loaded.run.id)}`;
  if (active.length === 0) {
    because.push(
      sessions.length === 0 ? 'no runner is connected' : 'all connected runners are finishing and take nothing new',
    );
    next.push(`connect a runner, e.g. ${carry}`);
  } else if (able.length === 0) {
    const missing = job.capabilities.filter((name) => active.every((session) => !session.capabilities.includes(name)));
    because.push(
      missing.length > 0
        ? `no connected runner has ${missing.join(', ')}`
        : `no single runner has all of ${job.capabilities.join(', ')}`,
    );
    next.push(
      `connect a runner that has it: ${carry} ${(missing.length > 0 ? missing : job.capabilities).map((name) => `--capability ${name}`).join(' ')}`,
    );
  } else {
    const refused = able.filter((session) => job.refusedBy.some((refusal) => refusal.session === session.id));
    if (refused.length > 0)
      because.push(`${refused.map((session) => session.name).join(', ')} refused it and is passed over for a while`);
    const slots = able.reduce((sum, session) => sum + session.slots, 0);
    because.push(
      `${able.length === 1 ? 'one runner' : `${able.length} runners`} could take it, with ${slots} slots together`,
    );
    if (ahead !== null)
      because.push(ahead === 0 ? 'it is the next in the queue' : `${ahead} jobs are before it in the queue`);
    next.push(
      'a slot becomes free',
      `forgeyard run priority ${publicId('run', loaded.run.id)} NUMBER moves the run in the queue`,
    );
  }
  if (job.queueDeadlineAt !== null)
    next.push(`it times out in ${durationText(job.queueDeadlineAt - now)} if nobody takes it`);
  return { because, next };
}

const lacks = (session: SessionRow, job: JobRow): readonly string[] =>
  job.capabilities.filter((name) => !session.capabilities.includes(name));
