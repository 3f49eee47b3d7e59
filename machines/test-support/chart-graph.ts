/**
 * The graph of a chart as XState itself walks it: every event of the chart is tried in every state it can reach, once
 * per guard class. The guards ask the event, so that a path can carry its own truth.
 */

import { adjacencyMapToArray, getAdjacencyMap, getShortestPaths } from '@xstate/graph';
import type { AnyMachineSnapshot, EventObject } from 'xstate';
import { z } from 'zod';
import type { AnyChart } from '../charts/charts.ts';
import { assignments, guardsOfPair } from './guard-classes.ts';

export interface Trial extends EventObject {
  /** The guards that hold while this event is handled. */
  readonly holds: readonly string[];
}

export interface Edge {
  readonly from: string;
  readonly trial: Trial;
  readonly to: string;
}

const trialSchema = z.object({ type: z.string(), holds: z.array(z.string()) });

function graphMachine({ machine, guards }: AnyChart) {
  const asked = Object.keys(guards).map((name) => {
    return [name, ({ event }: { event: unknown }) => trialSchema.parse(event).holds.includes(name)] as const;
  });
  return machine.provide({ guards: Object.fromEntries(asked) });
}

function trials(chart: AnyChart, events: readonly string[], state: string): readonly Trial[] {
  return events.flatMap((type) =>
    assignments(guardsOfPair(chart.machine, chart.table, state, type)).map((assignment) => ({
      type,
      holds: [...assignment].filter(([, holds]) => holds).map(([guard]) => guard),
    })),
  );
}

const stateOf = (snapshot: AnyMachineSnapshot): string => String(snapshot.value);

function options(chart: AnyChart, events: readonly string[]) {
  return {
    events: (snapshot: AnyMachineSnapshot) => trials(chart, events, stateOf(snapshot)),
    serializeState: stateOf,
    serializeEvent: (event: EventObject) => JSON.stringify(event),
  };
}

/** Every trial in every reachable state, with the state it led to. */
export function edgesOf(chart: AnyChart, events: readonly string[]): readonly Edge[] {
  return adjacencyMapToArray(getAdjacencyMap(graphMachine(chart), options(chart, events))).map((edge) => ({
    from: stateOf(edge.state),
    trial: trialSchema.parse(edge.event),
    to: stateOf(edge.nextState),
  }));
}

/** A shortest way from the start to every state that can be reached. */
export function shortestPaths(chart: AnyChart, events: readonly string[]): ReadonlyMap<string, readonly Trial[]> {
  const paths = getShortestPaths(graphMachine(chart), options(chart, events));
  return new Map(
    paths.map((path) => [
      stateOf(path.state),
      path.steps.filter(({ event }) => event.type !== 'xstate.init').map(({ event }) => trialSchema.parse(event)),
    ]),
  );
}
