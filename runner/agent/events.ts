/** What an agent tells its host, for logs and tests. Never a fact: the control plane keeps those. */
import type { LocalPhase, ProcessExitReport } from '../protocol/index.ts';

export type AttemptEnd =
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly failureClass: string; readonly message: string | null }
  | { readonly kind: 'terminated'; readonly intent: string }
  /** The authority was lost or the answer never came; the control plane decides alone. */
  | { readonly kind: 'abandoned'; readonly why: string };

export type AgentEvent =
  | { readonly kind: 'sessionOpened'; readonly session: string }
  /** The control plane does not take this session's polls any more; a new one follows, unless it was replaced. */
  | { readonly kind: 'sessionEnded'; readonly code: string }
  | {
      readonly kind: 'offerRefused';
      readonly attempt: string;
      readonly reason: string;
      readonly message: string | null;
    }
  | { readonly kind: 'attemptAccepted'; readonly attempt: string; readonly jobName: string }
  | { readonly kind: 'phaseEntered'; readonly attempt: string; readonly phase: LocalPhase }
  | { readonly kind: 'stepStarted'; readonly attempt: string; readonly step: string; readonly group: number }
  | { readonly kind: 'stepEnded'; readonly attempt: string; readonly step: string; readonly exit: ProcessExitReport }
  | { readonly kind: 'attemptEnded'; readonly attempt: string; readonly end: AttemptEnd }
  | { readonly kind: 'transportTroubled'; readonly message: string }
  | { readonly kind: 'transportRecovered' }
  /** No offers are asked for until there is room on the disk again. */
  | { readonly kind: 'diskShort'; readonly freeBytesMin: number }
  | { readonly kind: 'diskRoomAgain' }
  /** Nothing guards the deadlines of leases any more: the agent ends its work and closes. */
  | { readonly kind: 'keeperFailed'; readonly message: string }
  | { readonly kind: 'leftoversSwept'; readonly attempt: string; readonly groupsKilled: number }
  /** A workspace that could not be removed. */
  | { readonly kind: 'workspaceLeft'; readonly attempt: string; readonly message: string };

/** Where a test or the chaos harness may stop, kill or delay the agent; a no-op otherwise. */
export type AgentFailpoint = 'offerReceived' | 'accepted' | 'midWorkload' | 'outputsUploaded' | 'completionSent';
