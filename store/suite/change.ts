/** The rows of a run as its owner sees them, and a change of them. */
import type {
  AttemptId,
  AttemptRow,
  CommitGuard,
  GateRow,
  JobRow,
  LeaseId,
  LeaseRow,
  NodeRow,
  RunRow,
} from '../../machines/index.ts';
import type { RunCommit } from '../contract.ts';

export interface RunRows {
  readonly run: RunRow;
  readonly nodes: readonly NodeRow[];
  readonly attempts: ReadonlyMap<AttemptId, AttemptRow>;
  readonly leases: ReadonlyMap<LeaseId, LeaseRow>;
}

export interface Change {
  readonly run?: Partial<RunRow>;
  readonly jobs?: readonly JobRow[];
  readonly gates?: readonly GateRow[];
  readonly attempts?: readonly AttemptRow[];
  readonly leases?: readonly LeaseRow[];
  readonly guards?: readonly CommitGuard[];
  readonly timers?: Partial<RunCommit['timers']>;
  readonly message?: string;
}
