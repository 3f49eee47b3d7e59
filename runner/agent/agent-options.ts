/** Everything an agent takes from its host. There is no ambient configuration. */
import type { RunnerTransport } from '../../transport/index.ts';
import type { RunnerClock } from '../clock.ts';
import type { KeeperPlace } from '../lease/start-keeper.ts';
import type { OutputStore } from '../outputs/index.ts';
import type { Offer } from '../protocol/index.ts';
import type { SecretProviders } from '../secrets/resolve-secrets.ts';
import type { AgentEvent, AgentFailpoint } from './events.ts';

export interface AgentOptions {
  readonly transport: RunnerTransport;
  readonly runnerId: string;
  readonly name: string;
  readonly capabilities: readonly string[];
  /** Attempts worked on at once. */
  readonly slots: number;
  readonly clock: RunnerClock;
  /** A fresh id each time: session and message ids. */
  readonly ids: () => string;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Workspaces and attempt records. One agent process cleans up after a dead one on the same folder. */
  readonly stateDir: string;
  readonly logDir: string;
  readonly outputStore: OutputStore;
  readonly secretProviders: SecretProviders;
  /** The host's environment: source of `env:` secrets and of the few variables that are passed through. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Digest of the canonical JSON of a job spec (000 §183). */
  readonly digestOf: (spec: unknown) => string;
  readonly onEvent: (event: AgentEvent) => void;
  readonly failpoint?: (point: AgentFailpoint, attempt: string) => void | Promise<void>;
  /** The checkout a run was started from, where this machine has it; steps find it as FORGEYARD_SOURCE. */
  readonly sourceDir?: (run: string) => string | null;
  /** Fills a fresh workspace, e.g. with a checkout, before inputs are placed. The offer names only those that fit it. */
  readonly populateWorkspace?: (work: string, offer: Offer, signal: AbortSignal) => Promise<void>;
  /** Free bytes on the disk of a folder; the file system is asked when left out. */
  readonly freeBytes?: (folder: string) => Promise<number>;
  readonly keeper?: KeeperPlace;
  readonly tuning?: Partial<AgentTuning>;
}

export interface AgentTuning {
  /** Between two polls when no doorbell rings. */
  readonly pollEveryMs: number;
  /** One try of one request. */
  readonly requestTimeoutMs: number;
  /** Of the beginning of one log file; of the rest only a short end is kept, with a mark. */
  readonly logBytesMax: number;
  /** How long output is awaited after a process has ended, when something else still holds its pipes. */
  readonly outputDrainMs: number;
  /** Files and bytes one attempt may upload as outputs, and again as reports. */
  readonly outputFilesMax: number;
  readonly outputBytesMax: number;
  /** Tries of an upload while the lease is held. */
  readonly uploadTriesMax: number;
  readonly uploadRetryMs: number;
  /** How long reports may hold up the message of a failure. */
  readonly reportUploadMs: number;
  /** With less free space than this no offers are asked for, and those that come are refused (DiskPressure). */
  readonly freeBytesMin: number;
  /** Keeps the workspaces of attempts that did not succeed. */
  readonly keepFailed: boolean;
  /** At most one progress message per attempt in this time. */
  readonly progressEveryMs: number;
  /** Before the agent comes back when the control plane has ended its session; doubled each time, up to the maximum. */
  readonly sessionRetryMs: number;
  readonly sessionRetryMsMax: number;
}

export const defaultTuning: AgentTuning = {
  pollEveryMs: 1_000,
  requestTimeoutMs: 10_000,
  logBytesMax: 16 * 1024 * 1024,
  outputDrainMs: 250,
  // As many as one completion message may name.
  outputFilesMax: 1_024,
  outputBytesMax: 2 * 1024 * 1024 * 1024,
  uploadTriesMax: 5,
  uploadRetryMs: 200,
  reportUploadMs: 30_000,
  freeBytesMin: 64 * 1024 * 1024,
  keepFailed: false,
  progressEveryMs: 1_000,
  sessionRetryMs: 500,
  sessionRetryMsMax: 30_000,
};
