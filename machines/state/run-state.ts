/**
 * The state of one run in memory, and drafts over it.
 *
 * A `RunAggregate` is what a store loaded (or genesis made). A draft reads through to it and keeps its own changes,
 * so `decide` can work step by step and still be pure; `absorb` moves the changes in once they are committed.
 * Derived counters (open nodes, held jobs, edges still undecided) follow every `put`, in O(degree).
 */
import type { Fact } from '../model/facts.ts';
import type { AttemptId, GateId, JobId, LeaseId } from '../model/ids.ts';
import type { AttemptRow, GateRow, JobRow, LeaseRow, NodeRow, RunRow } from '../model/rows.ts';
import { isGateEnded, isJobActive, isJobEnded } from '../model/states.ts';
import type { ExecutablePlan } from '../plan/plan.ts';
import type { PlanIndex } from '../plan/plan-index.ts';
import { indexPlan } from '../plan/plan-index.ts';

export interface RunView {
  readonly index: PlanIndex;
  readonly run: RunRow;
  /** Number of the last fact. */
  readonly sequence: number;
  node(at: number): NodeRow;
  job(at: number): JobRow;
  gate(at: number): GateRow;
  findJob(id: JobId): number | undefined;
  findGate(id: GateId): number | undefined;
  attempt(id: AttemptId): AttemptRow | undefined;
  lease(id: LeaseId): LeaseRow | undefined;
  /** Jobs and gates that have not ended. */
  readonly openNodes: number;
  /** Jobs in Preparing, Running or UploadingOutputs. */
  readonly heldJobs: number;
  /** Edges into the node whose upstream has not ended. */
  openUpstreams(at: number): number;
  /** Edges out of the node whose dependent has not ended. */
  openDependents(at: number): number;
}

export interface RunWriter extends RunView {
  putRun(row: RunRow): void;
  putNode(row: NodeRow): void;
  putAttempt(row: AttemptRow): void;
  putLease(row: LeaseRow): void;
  setSequence(sequence: number): void;
}

export interface RunAggregate extends RunWriter {
  readonly leases: ReadonlyMap<LeaseId, LeaseRow>;
  readonly attempts: ReadonlyMap<AttemptId, AttemptRow>;
  readonly nodes: readonly NodeRow[];
  /** Drops rows that have ended; a late message about them is answered from the store. */
  forget(attempts: readonly AttemptId[], leases: readonly LeaseId[]): void;
}

export interface Loaded {
  readonly run: RunRow;
  readonly plan: ExecutablePlan;
  readonly nodes: readonly NodeRow[];
  readonly attempts: readonly AttemptRow[];
  readonly leases: readonly LeaseRow[];
}

export const isEnded = (row: NodeRow): boolean => (row.kind === 'job' ? isJobEnded(row.state) : isGateEnded(row.state));
const isHeld = (row: NodeRow): boolean => row.kind === 'job' && isJobActive(row.state) && row.state !== 'Leased';

/** Builds the state of a run from its rows; O(nodes + edges). */
export function aggregateOf(loaded: Loaded): RunAggregate {
  const index = indexPlan(loaded.plan);
  if (loaded.nodes.length !== loaded.plan.nodes.length)
    throw new Error(`run ${loaded.run.id}: rows and plan differ in number`);
  const nodes = [...loaded.nodes];
  const ids = new Map<string, number>();
  const openUpstreams = Int32Array.from(index.upstreamEdges);
  const openDependents = Int32Array.from(index.downstreamEdges);
  const attempts = new Map(loaded.attempts.map((row) => [row.id, row]));
  const leases = new Map(loaded.leases.map((row) => [row.id, row]));
  let { run } = loaded;
  let { sequence } = run;
  let openNodes = nodes.length;
  let heldJobs = 0;
  const noteEnd = (at: number): void => {
    openNodes -= 1;
    for (const { to } of index.downstream[at] ?? []) openUpstreams[to] = (openUpstreams[to] ?? 0) - 1;
    for (const { upstream } of index.plan.nodes[at]?.needs ?? [])
      openDependents[upstream] = (openDependents[upstream] ?? 0) - 1;
  };
  for (const [at, row] of nodes.entries()) {
    ids.set(row.id, at);
    if (isEnded(row)) noteEnd(at);
    if (isHeld(row)) heldJobs += 1;
  }
  const node = (at: number): NodeRow => {
    const row = nodes[at];
    if (row === undefined) throw new Error(`run ${run.id}: no node ${at}`);
    return row;
  };
  return {
    index,
    nodes,
    attempts,
    leases,
    get run() {
      return run;
    },
    get sequence() {
      return sequence;
    },
    get openNodes() {
      return openNodes;
    },
    get heldJobs() {
      return heldJobs;
    },
    node,
    job: (at) => asJob(node(at)),
    gate: (at) => asGate(node(at)),
    findJob: (id) => ids.get(id),
    findGate: (id) => ids.get(id),
    attempt: (id) => attempts.get(id),
    lease: (id) => leases.get(id),
    openUpstreams: (at) => openUpstreams[at] ?? 0,
    openDependents: (at) => openDependents[at] ?? 0,
    putRun(row) {
      run = row;
    },
    putNode(row) {
      const old = node(row.index);
      nodes[row.index] = row;
      if (!isEnded(old) && isEnded(row)) noteEnd(row.index);
      heldJobs += Number(isHeld(row)) - Number(isHeld(old));
    },
    putAttempt(row) {
      attempts.set(row.id, row);
    },
    putLease(row) {
      leases.set(row.id, row);
    },
    setSequence(next) {
      sequence = next;
      if (run.sequence !== next) run = { ...run, sequence: next };
    },
    forget(endedAttempts, endedLeases) {
      for (const id of endedAttempts) attempts.delete(id);
      for (const id of endedLeases) leases.delete(id);
    },
  };
}

export function asJob(row: NodeRow): JobRow {
  if (row.kind !== 'job') throw new Error(`${row.node} is a gate, not a job`);
  return row;
}

export function asGate(row: NodeRow): GateRow {
  if (row.kind !== 'gate') throw new Error(`${row.node} is a job, not a gate`);
  return row;
}

export interface Draft extends RunWriter {
  readonly base: RunView;
  readonly facts: Fact[];
  readonly changedNodes: ReadonlyMap<number, NodeRow>;
  readonly changedAttempts: ReadonlyMap<AttemptId, AttemptRow>;
  readonly changedLeases: ReadonlyMap<LeaseId, LeaseRow>;
}

/** A view over `base` that keeps changes to itself. */
export const draftOver = (base: RunView): Draft => new RunDraft(base);

/** A class, because a draft is made for every decision: methods cost nothing, twenty closures do. */
class RunDraft implements Draft {
  readonly base: RunView;
  readonly index: PlanIndex;
  readonly facts: Fact[] = [];
  readonly changedNodes = new Map<number, NodeRow>();
  readonly changedAttempts = new Map<AttemptId, AttemptRow>();
  readonly changedLeases = new Map<LeaseId, LeaseRow>();
  run: RunRow;
  sequence: number;
  openNodes: number;
  heldJobs: number;
  /** How many upstreams and dependents of a node ended in this draft; made with the first end. */
  #upstreamsEnded: Map<number, number> | null = null;
  #dependentsEnded: Map<number, number> | null = null;

  constructor(base: RunView) {
    this.base = base;
    this.index = base.index;
    this.run = base.run;
    this.sequence = base.sequence;
    this.openNodes = base.openNodes;
    this.heldJobs = base.heldJobs;
  }

  node(at: number): NodeRow {
    return this.changedNodes.get(at) ?? this.base.node(at);
  }
  job(at: number): JobRow {
    return asJob(this.node(at));
  }
  gate(at: number): GateRow {
    return asGate(this.node(at));
  }
  findJob(id: JobId): number | undefined {
    return this.base.findJob(id);
  }
  findGate(id: GateId): number | undefined {
    return this.base.findGate(id);
  }
  attempt(id: AttemptId): AttemptRow | undefined {
    return this.changedAttempts.get(id) ?? this.base.attempt(id);
  }
  lease(id: LeaseId): LeaseRow | undefined {
    return this.changedLeases.get(id) ?? this.base.lease(id);
  }
  openUpstreams(at: number): number {
    return this.base.openUpstreams(at) - (this.#upstreamsEnded?.get(at) ?? 0);
  }
  openDependents(at: number): number {
    return this.base.openDependents(at) - (this.#dependentsEnded?.get(at) ?? 0);
  }
  putRun(row: RunRow): void {
    this.run = row;
  }
  putNode(row: NodeRow): void {
    const old = this.node(row.index);
    this.changedNodes.set(row.index, row);
    if (!isEnded(old) && isEnded(row)) this.#noteEnd(row.index);
    this.heldJobs += Number(isHeld(row)) - Number(isHeld(old));
  }
  putAttempt(row: AttemptRow): void {
    this.changedAttempts.set(row.id, row);
  }
  putLease(row: LeaseRow): void {
    this.changedLeases.set(row.id, row);
  }
  setSequence(next: number): void {
    this.sequence = next;
  }

  #noteEnd(at: number): void {
    this.openNodes -= 1;
    this.#upstreamsEnded ??= new Map();
    const upstreams = this.#upstreamsEnded;
    for (const { to } of this.index.downstream[at] ?? []) upstreams.set(to, (upstreams.get(to) ?? 0) + 1);
    this.#dependentsEnded ??= new Map();
    const dependents = this.#dependentsEnded;
    for (const { upstream } of this.index.plan.nodes[at]?.needs ?? [])
      dependents.set(upstream, (dependents.get(upstream) ?? 0) + 1);
  }
}
