/**
 * The executable plan: what a run executes, immutable, stored by digest (000 §2, §244, §245).
 *
 * Neighbours: `plan-file.ts` is what a person writes; `compile.ts` turns that into this.
 * Invariants of a compiled plan:
 *  P1 node names are unique over jobs and gates; there is at least one job.
 *  P2 every edge names an existing node, no node needs itself, the graph has no cycle.
 *  P3 `nodes` is in plan order; a node's `index` is its place there.
 *  P4 `specDigest` is the digest of the canonical JSON of `spec`; two equal specs have equal digests.
 *  P5 all durations are whole milliseconds > 0, all counts within `limits`.
 */
import type { FailureClass } from '../model/failure-class.ts';
import type { Digest, NodeName } from '../model/ids.ts';

export interface SourceSnapshot {
  readonly kind: 'git' | 'directory';
  /** Full commit id, or null where the directory is no git checkout. */
  readonly commit: string | null;
  /** True when the work tree differed from the commit. */
  readonly dirty: boolean;
}

/** When an edge counts as satisfied (state-machines: Dependencies). */
export type EdgeCondition = 'success' | 'completed' | 'always' | 'failure';

export interface PlannedEdge {
  /** Index of the upstream node in `ExecutablePlan.nodes`. */
  readonly upstream: number;
  readonly condition: EdgeCondition;
  /** False: any end satisfies it (like `always`), but it makes no fail-fast handler. */
  readonly required: boolean;
}

export type BackoffPolicy =
  | { readonly kind: 'none' }
  | { readonly kind: 'fixed'; readonly delayMs: number }
  | { readonly kind: 'exponential'; readonly baseMs: number; readonly factor: number; readonly maxMs: number };

export interface RetryPolicy {
  /** Attempts the workload may use, the first included (000 §53); 1 = no workload retry. */
  readonly attemptsMax: number;
  /** Workload classes that are retried; infrastructure classes are retried without being named. */
  readonly retryOn: readonly FailureClass[];
  /** Infrastructure failures survived; the next one ends the job (000 §197, §198). */
  readonly infrastructureRetriesMax: number;
  readonly backoff: BackoffPolicy;
}

export interface JobTimeouts {
  readonly queueMs: number | null;
  readonly preparationMs: number | null;
  readonly executionMs: number | null;
  /** True: the execution timeout starts with preparation (000 §63). */
  readonly executionIncludesPreparation: boolean;
  readonly uploadMs: number | null;
  /** Between a termination intent and the loss of the lease. */
  readonly terminationGraceMs: number;
}

/** How long a runner may work without being heard (000 §276). */
export type ConnectivityPolicy =
  | { readonly kind: 'continuous' }
  | { readonly kind: 'grace'; readonly extraMs: number }
  | { readonly kind: 'offline_authorized'; readonly extraMs: number };

export type CompletionAfterIntent = 'honor_intent' | 'accept_success';
export type FailureImpact = 'blocking' | 'allowed';

/** A condition the planner has already evaluated (000 §222). */
export type PlannedCondition =
  | { readonly holds: true }
  | {
      readonly holds: false;
      readonly reason: 'ConditionFalse' | 'PlanPruned' | 'Policy';
      readonly message: string | null;
    };

export type StepCommand =
  /** A script, run by `shell` (argv of the interpreter, the script file appended). */
  | { readonly kind: 'script'; readonly script: string; readonly shell: readonly string[] }
  | { readonly kind: 'argv'; readonly argv: readonly string[] };

export interface StepSpec {
  readonly name: string;
  readonly command: StepCommand;
  readonly env: Readonly<Record<string, string>>;
  /** Relative to the workspace; null = the workspace itself. */
  readonly workingDirectory: string | null;
  readonly timeoutMs: number | null;
  /** The class of a failure of this step; UserCommand when null. */
  readonly failureClass: 'UserCommand' | 'TestFailure' | 'CompileFailure' | null;
}

/** What a runner needs to execute one job. Its digest binds attempts to it (000 §181). No secret values. */
export interface JobSpec {
  readonly steps: readonly StepSpec[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDirectory: string | null;
  /** Globs below the workspace. Each output glob must match at least one file when the job succeeds. */
  readonly outputs: readonly string[];
  /** Globs below the workspace; a report that matches nothing is no failure, and reports are kept on failure too. */
  readonly reports: readonly string[];
  /** Environment name -> secret reference (`env:NAME`, `file:PATH`, `command:NAME`), resolved by the runner. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly capabilities: readonly string[];
  readonly matrix: Readonly<Record<string, string>>;
  /** Copies outputs of these upstream jobs (node names) into the workspace before the first step. */
  readonly inputsFrom: readonly string[];
  readonly timeouts: JobTimeouts;
  readonly connectivity: ConnectivityPolicy;
}

export interface PlannedJob {
  readonly kind: 'job';
  readonly index: number;
  readonly name: NodeName;
  readonly needs: readonly PlannedEdge[];
  readonly spec: JobSpec;
  readonly specDigest: Digest;
  readonly condition: PlannedCondition;
  readonly required: boolean;
  readonly failureImpact: FailureImpact;
  readonly retry: RetryPolicy;
  readonly completionAfterIntent: CompletionAfterIntent;
  /** Null where the job has no cache key. */
  readonly cacheKey: string | null;
  /** The children of one matrix share `group` (the name in the plan file). */
  readonly matrix: { readonly group: string; readonly failFast: boolean } | null;
}

export interface PlannedGate {
  readonly kind: 'gate';
  readonly index: number;
  readonly name: NodeName;
  readonly needs: readonly PlannedEdge[];
  /** Actor ids that may decide; empty = anyone with the permission `gate.decide`. */
  readonly approvers: readonly string[];
  readonly expiryMs: number | null;
  readonly onExpiry: 'reject' | 'satisfy';
  readonly description: string | null;
}

export type PlannedNode = PlannedJob | PlannedGate;

export interface ExecutablePlan {
  readonly schemaVersion: 1;
  readonly project: string;
  readonly name: string;
  readonly source: SourceSnapshot;
  readonly deadlineMs: number | null;
  /** The run's own fail-fast (scope: everything); a matrix has its own. */
  readonly failFast: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Higher is granted first; 0 by default. */
  readonly priority: number;
  readonly concurrency: { readonly group: string; readonly supersede: boolean } | null;
  readonly nodes: readonly PlannedNode[];
}
