/** All charts by name, with the events of each in the order of a life. The order is what tables and documents use. */
import { attemptChart, attemptEvents } from './attempt.ts';
import type { Chart } from './chart.ts';
import { gateChart, gateEvents } from './gate.ts';
import { jobChart, jobEvents } from './job.ts';
import { leaseChart, leaseEvents } from './lease.ts';
import { runChart, runEvents } from './run.ts';
import {
  effectChart,
  effectEvents,
  outboxChart,
  outboxEvents,
  sessionChart,
  sessionEvents,
  timerChart,
  timerEvents,
} from './small.ts';

export const chartNames = ['run', 'job', 'attempt', 'lease', 'gate', 'session', 'outbox', 'timer', 'effect'] as const;
export type ChartName = (typeof chartNames)[number];

/** A chart whose input nobody needs to know: its machine, its table, the names of its guards. */
export type AnyChart = Chart<never>;

export const allCharts = {
  run: runChart,
  job: jobChart,
  attempt: attemptChart,
  lease: leaseChart,
  gate: gateChart,
  session: sessionChart,
  outbox: outboxChart,
  timer: timerChart,
  effect: effectChart,
} as const satisfies Readonly<Record<ChartName, AnyChart>>;

export const chartEvents: Readonly<Record<ChartName, readonly string[]>> = {
  run: runEvents,
  job: jobEvents,
  attempt: attemptEvents,
  lease: leaseEvents,
  gate: gateEvents,
  session: sessionEvents,
  outbox: outboxEvents,
  timer: timerEvents,
  effect: effectEvents,
};
