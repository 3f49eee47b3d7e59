/** What the agent's thread and the keeper's thread say to each other. All of it can be cloned. */
import type { ThreadEndpoint } from '../../transport/index.ts';
import type { MessageAuthority, RunnerReply, RunnerRequest } from '../protocol/index.ts';
import type { KeeperEvent, KeeperSession } from './keeper.ts';

export interface KeeperThreadData {
  /** Null: requests are relayed through the agent's thread. */
  readonly endpoint: Omit<ThreadEndpoint, 'transfer'> | null;
}

export type ToKeeper =
  | { readonly kind: 'open'; readonly session: KeeperSession }
  | { readonly kind: 'watch'; readonly authority: MessageAuthority; readonly deadline: number }
  | { readonly kind: 'addGroup'; readonly attempt: string; readonly group: number }
  | { readonly kind: 'removeGroup'; readonly attempt: string; readonly group: number }
  | { readonly kind: 'unwatch'; readonly attempt: string }
  | { readonly kind: 'relayed'; readonly call: number; readonly reply: RunnerReply | null; readonly problem: string }
  | { readonly kind: 'close' };

export type FromKeeper =
  | { readonly kind: 'event'; readonly event: KeeperEvent }
  | { readonly kind: 'relay'; readonly call: number; readonly request: RunnerRequest };
