/**
 * Whoever can run a scenario: the pure core in memory here, a store with the run actor elsewhere. An engine answers
 * commands and shows rows; the scenario says what must come of them.
 */
import type {
  Charts,
  Command,
  Decision,
  ExecutablePlan,
  Fact,
  LeaseId,
  NodeRow,
  Reply,
  RunRow,
  SessionId,
  TimerChanges,
} from '../../machines/index.ts';
import type { idSource, Rows, World } from '../core/index.ts';
import { createWorld } from '../core/index.ts';

type Awaitable<T> = T | Promise<T>;

export interface EngineAnswer {
  /** `accepted`, `no-op CODE` or `rejected CODE`. */
  readonly answer: string;
  readonly facts: readonly Fact[];
  readonly reply: Reply | null;
  /** Null where an engine cannot tell: then the timers of a scenario are not compared. */
  readonly timers: TimerChanges | null;
}

export interface EngineRows extends Rows {
  readonly run: RunRow;
  readonly nodes: readonly NodeRow[];
}

export interface ScenarioEngine {
  readonly nextId: ReturnType<typeof idSource>;
  readonly now: number;
  create(plan: ExecutablePlan): Awaitable<EngineAnswer>;
  rows(): Awaitable<EngineRows>;
  submit(command: Command, actor: string): Awaitable<EngineAnswer>;
  /** Takes the next follow-up that a commit left, or null. */
  nextFollowUp(): Awaitable<Command | null>;
  /** Everything that is only in memory is lost; rows stay. */
  restart(): Awaitable<void>;
  advance(ms: number): Awaitable<void>;
  renew(lease: LeaseId): Awaitable<boolean>;
  setActive(session: SessionId, active: boolean): Awaitable<void>;
  /** What does not hold; empty for a correct engine. */
  problems(): Awaitable<readonly string[]>;
}

export const scenarioLimits = { refusalsMax: 3 } as const;

/** The pure core as an engine. */
export function coreEngine(charts?: Charts): ScenarioEngine {
  let world: World | null = null;
  const running = (): World => {
    if (world === null) throw new Error('no run was created');
    return world;
  };
  return {
    nextId: <Id extends string>() => running().nextId<Id>(),
    get now() {
      return running().now;
    },
    create(plan) {
      world = createWorld(plan, { limits: scenarioLimits, frozen: true, ...(charts === undefined ? {} : { charts }) });
      const { facts, timers } = world.created;
      return { answer: 'accepted', facts, reply: null, timers };
    },
    rows() {
      const { row, attempts, leases, state } = running();
      return { row, attempts, leases, run: state.run, nodes: state.nodes };
    },
    submit: (command, actor) => answerOf(running().submit(command, actor)),
    nextFollowUp: () => running().pending.shift() ?? null,
    restart: () => {
      running().pending.splice(0);
    },
    advance: (ms) => {
      running().now += ms;
    },
    renew: (lease) => running().renew(lease),
    setActive(session, active) {
      if (active) running().inactive.delete(session);
      else running().inactive.add(session);
    },
    problems: () => running().problems(),
  };
}

const nothing = { set: [], cancel: [] };

function answerOf(decision: Decision): EngineAnswer {
  switch (decision.outcome) {
    case 'accepted': {
      const { changes, reply } = decision;
      return { answer: 'accepted', facts: changes.facts, reply, timers: changes.timers };
    }
    case 'no-op':
      return { answer: `no-op ${decision.code}`, facts: [], reply: decision.reply, timers: nothing };
    case 'rejected':
      return {
        answer: `rejected ${decision.code}`,
        facts: decision.audit?.facts ?? [],
        reply: null,
        timers: decision.audit?.timers ?? nothing,
      };
  }
}
