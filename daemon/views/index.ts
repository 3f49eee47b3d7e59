/** Rows as the outside sees them: the shape of `-o json` and of whatever interface comes next. */
export type { FactView } from './fact-view.ts';
export { factView } from './fact-view.ts';
export type { GraphFormat } from './graph.ts';
export { dotGraph, edgeLabel, graphFormats, levels, mermaidGraph } from './graph.ts';
export type { AttemptFault, AttemptView, JobRows, JobView, LeaseView } from './job-view.ts';
export { attemptViews, faultOf, jobView } from './job-view.ts';
export type { GateView, JobLine } from './node-view.ts';
export { gateView, jobLine } from './node-view.ts';
export type { ReasonView } from './reason-view.ts';
export { reasonText, reasonView } from './reason-view.ts';
export type { JobTotals, RetryView, RunLine, RunView } from './run-view.ts';
export { countJobs, isRetrying, runLine, runView, totalsOf } from './run-view.ts';
export { shellWord } from './shell-word.ts';
export { agoText, clockText, durationText, isoTime, isoTimeOrNull, timeOfDay } from './time.ts';
