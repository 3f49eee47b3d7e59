/**
 * Fail-fast and gates nobody needs, said a second time: who must have been stopped by a commit, and who must not
 * (000 §87-88). Asked after every commit of a run without intent.
 */
import type { Changes, ExecutablePlan, JobRow, PlannedJob, RunAggregate } from '../../machines/index.ts';
import { isJobActive, isJobEnded } from '../../machines/index.ts';

/** The nodes that one final failure stops: a matrix, or everything. Null: it stops nobody. */
function scopesOf(plan: ExecutablePlan, planned: PlannedJob): readonly (readonly number[])[] {
  const { matrix } = planned;
  const group = plan.nodes.filter((node) => node.kind === 'job' && node.matrix?.group === matrix?.group);
  return [
    ...(matrix?.failFast === true ? [group.map(({ index }) => index)] : []),
    ...(plan.failFast && planned.required ? [plan.nodes.map(({ index }) => index)] : []),
  ];
}

/** Jobs that are there to handle an end in the scope, and everything that depends on them. */
function isHandler(plan: ExecutablePlan, scope: readonly number[], at: number): boolean {
  const node = plan.nodes[at];
  if (node === undefined) return false;
  const handles =
    node.kind === 'job' &&
    node.needs.some(
      ({ upstream, condition, required }) =>
        required && (condition === 'failure' || condition === 'always') && scope.includes(upstream),
    );
  return handles || node.needs.some(({ upstream }) => isHandler(plan, scope, upstream));
}

const held: ReadonlySet<string> = new Set(['Preparing', 'Running', 'UploadingOutputs']);

const isCulprit = (row: JobRow): boolean =>
  (row.state === 'Failed' || row.state === 'TimedOut') && row.failureImpact === 'blocking';

export function failFastViolations(plan: ExecutablePlan, state: RunAggregate, changes: Changes): readonly string[] {
  const scopes = changes.jobs.filter(isCulprit).flatMap((row) => scopesOf(plan, state.index.job(row.index)));
  const spared = (row: JobRow): boolean =>
    !scopes.some((scope) => scope.includes(row.index) && !isHandler(plan, scope, row.index));
  // A held job that was stopped earlier ends with that reason too; only the first word of it is a stop.
  const stopped = new Set(
    changes.facts.flatMap((fact) => {
      const byFailFast = fact.entity === 'job' && fact.reason.code === 'FailFast';
      const stops = byFailFast && (fact.type === 'JobTerminationRequested' || !held.has(fact.from));
      return stops ? [fact.index] : [];
    }),
  );
  return state.nodes.flatMap((row) => {
    if (row.kind === 'gate') return [];
    if (stopped.has(row.index) && spared(row)) return [`fail-fast stopped ${row.node}, which is none of its own`];
    const goesOn =
      !isJobEnded(row.state) && !(isJobActive(row.state) && (row.intent?.kind ?? 'TimedOut') !== 'TimedOut');
    return goesOn && !spared(row) ? [`fail-fast spared ${row.node}`] : [];
  });
}

/** Gates that wait for a person although everything that waited for them has ended. */
export function idleGates(plan: ExecutablePlan, state: RunAggregate): readonly string[] {
  return state.nodes.flatMap((row) => {
    if (row.kind === 'job' || row.state !== 'Pending') return [];
    const dependents = plan.nodes.filter(({ needs }) => needs.some(({ upstream }) => upstream === row.index));
    const open = dependents.some(({ index }) => state.nodes[index]?.finishedAt === null);
    return dependents.length > 0 && !open ? [`${row.node} waits for nobody`] : [];
  });
}
