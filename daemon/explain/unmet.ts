/** Jobs that no runner connected now could take, however many slots became free. */
import type { JobRow, NodeRow, SessionRow } from '../../machines/index.ts';

export interface Unmet {
  readonly jobs: readonly JobRow[];
  /** What no runner has; all that the jobs need where each is somewhere, but never together. */
  readonly capabilities: readonly string[];
  /** Runners have each of them, and none has all. */
  readonly apart: boolean;
}

/** One entry for each list of capabilities. Empty without any active runner: then it is not capabilities that are missing. */
export function unmetCapabilities(nodes: readonly NodeRow[], sessions: readonly SessionRow[]): readonly Unmet[] {
  const active = sessions.filter((session) => session.state === 'Active');
  if (active.length === 0) return [];
  const found = new Map<string, { jobs: JobRow[]; capabilities: readonly string[]; apart: boolean }>();
  for (const job of nodes) {
    if (job.kind !== 'job' || job.state !== 'Eligible' || job.capabilities.length === 0) continue;
    if (active.some((session) => job.capabilities.every((name) => session.capabilities.includes(name)))) continue;
    const missing = job.capabilities.filter((name) => active.every((each) => !each.capabilities.includes(name)));
    const capabilities = missing.length > 0 ? missing : job.capabilities;
    const key = JSON.stringify(capabilities);
    const known = found.get(key);
    if (known === undefined) found.set(key, { jobs: [job], capabilities, apart: missing.length === 0 });
    else known.jobs.push(job);
  }
  return [...found.values()];
}

const namesMax = 4;

/** E.g. "build  waits for a runner with gpu; none is connected". */
export function unmetText({ jobs, capabilities, apart }: Unmet): string {
  const names = jobs.slice(0, namesMax).map((job) => job.node);
  const rest = jobs.length > names.length ? ` and ${jobs.length - names.length} more` : '';
  const wait = jobs.length === 1 ? 'waits' : 'wait';
  const found = apart ? 'none connected has all of them' : 'none is connected';
  return `${names.join(', ')}${rest}  ${wait} for a runner with ${capabilities.join(', ')}; ${found}`;
}
