/**
 * What the ends of a run must be, said a second time and in another way than `policies/`: from a table of ends and
 * conditions, and by asking upwards. Two programs that share a mistake would have to share it in two forms.
 */
import type { ExecutablePlan, NodeRow, PlannedNode, RunAggregate } from '../../machines/index.ts';

type End =
  | 'succeeded'
  | 'failed'
  | 'failed, allowed'
  | 'cancelled'
  | 'skipped, fine'
  | 'skipped'
  | 'satisfied'
  | 'rejected'
  | 'no condition'
  | 'dropped';

function endOf(row: NodeRow): End {
  if (row.kind === 'gate') {
    if (row.state === 'Satisfied') return 'satisfied';
    if (row.state === 'Rejected') return 'rejected';
    return row.reason?.code === 'ConditionNotMet' ? 'no condition' : 'dropped';
  }
  switch (row.state) {
    case 'Succeeded':
      return 'succeeded';
    case 'Failed':
    case 'TimedOut':
      return row.failureImpact === 'allowed' ? 'failed, allowed' : 'failed';
    case 'Skipped':
      return row.satisfies === true ? 'skipped, fine' : 'skipped';
    default:
      return 'cancelled';
  }
}

const goesOn: Readonly<Record<'success' | 'completed' | 'failure', readonly End[]>> = {
  success: ['succeeded', 'failed, allowed', 'skipped, fine', 'satisfied'],
  completed: ['succeeded', 'failed', 'failed, allowed', 'satisfied', 'rejected'],
  failure: ['failed', 'failed, allowed', 'rejected'],
};
const merelyNotMet: Readonly<Record<'success' | 'completed', readonly End[]>> = {
  success: ['no condition'],
  completed: ['skipped, fine', 'no condition'],
};

type Wanted = 'goes on' | 'condition not met' | 'unmet';

/** What the ends above a node mean for it. */
function wanted(planned: PlannedNode, rows: readonly NodeRow[]): Wanted {
  let failureEdges = 0;
  let failures = 0;
  let notMet = false;
  for (const { upstream, condition, required } of planned.needs) {
    const row = rows[upstream];
    if (row === undefined) throw new Error(`no row ${upstream}`);
    if (!required || condition === 'always') continue;
    const end = endOf(row);
    if (condition === 'failure') {
      failureEdges += 1;
      if (goesOn.failure.includes(end)) failures += 1;
    } else if (merelyNotMet[condition].includes(end)) notMet = true;
    else if (!goesOn[condition].includes(end)) return 'unmet';
  }
  return notMet || (failureEdges > 0 && failures === 0) ? 'condition not met' : 'goes on';
}

/** What a row says its upstreams meant for it; null where something else ended it. */
function told(row: NodeRow): Wanted | null {
  if (row.kind === 'gate' ? row.openedAt !== null : row.eligibleAt !== null) return 'goes on';
  if (row.kind === 'gate' ? row.state !== 'Cancelled' : row.state !== 'Skipped') return null;
  switch (row.reason?.code) {
    case 'ConditionNotMet':
      return 'condition not met';
    case 'UpstreamFailed':
    case 'UpstreamCancelled':
      return 'unmet';
    case 'Policy':
      return row.reason.root === undefined ? null : 'unmet';
    default:
      return null;
  }
}

/** Nodes that went on, were skipped or were dropped against the ends above them. */
function wrongNodes(plan: ExecutablePlan, rows: readonly NodeRow[]): readonly string[] {
  return plan.nodes.flatMap((planned) => {
    const row = rows[planned.index];
    const says = row === undefined ? null : told(row);
    const should = wanted(planned, rows);
    return says === null || says === should
      ? []
      : [`oracle: ${planned.name} says "${says}", its upstreams "${should}"`];
  });
}

/** The state a run without intent must have ended in. */
export function expectedVerdict(plan: ExecutablePlan, rows: readonly NodeRow[]): 'Succeeded' | 'Failed' | 'Cancelled' {
  const needed = new Set(plan.nodes.flatMap(({ needs }) => needs.map(({ upstream }) => upstream)));
  const isSource = (row: NodeRow, planned: PlannedNode): boolean =>
    endOf(row) === 'failed' ||
    endOf(row) === 'rejected' ||
    (row.state === 'Cancelled' && row.kind === 'job' && row.reason?.code === 'FailFast') ||
    (planned.kind === 'job' && !planned.condition.holds && planned.condition.reason === 'Policy');
  const failureAbove = (planned: PlannedNode): boolean =>
    planned.needs.some(({ upstream }) => {
      const [row, above] = [rows[upstream], plan.nodes[upstream]];
      return row !== undefined && above !== undefined && (isSource(row, above) || failureAbove(above));
    });
  const verdicts = plan.nodes.map((planned) => {
    const row = rows[planned.index];
    if (row === undefined) return 'none';
    const end = endOf(row);
    if (row.kind === 'gate') {
      if (needed.has(row.index)) return 'none';
      if (end === 'rejected') return 'failure';
      const unmet = ['UpstreamFailed', 'UpstreamCancelled', 'Policy'].includes(row.reason?.code ?? '');
      if (end !== 'dropped' || !unmet) return 'none';
      return row.reason?.code === 'Policy' || failureAbove(planned) ? 'failure' : 'cancelled';
    }
    if (!row.required) return 'none';
    if (end === 'failed') return 'failure';
    if (end === 'cancelled') {
      if (row.reason?.code === 'FailFast') return 'failure';
      return row.failureImpact === 'blocking' ? 'cancelled' : 'none';
    }
    if (end !== 'skipped') return 'none';
    return row.reason?.code === 'Policy' || failureAbove(planned) ? 'failure' : 'cancelled';
  });
  if (verdicts.includes('failure')) return 'Failed';
  return verdicts.includes('cancelled') ? 'Cancelled' : 'Succeeded';
}

/** What is wrong with a run that should have ended. */
export function wrongEnd(plan: ExecutablePlan, state: RunAggregate): readonly string[] {
  const { run, nodes } = state;
  const expected = run.intent?.kind ?? expectedVerdict(plan, nodes);
  return [
    ...(run.state === expected ? [] : [`oracle: the run is ${run.state}, its nodes say ${expected}`]),
    ...(run.intent === null ? wrongNodes(plan, nodes) : []),
  ];
}
