/**
 * What a worker prints, one line each, after the store has answered: the only thing the killer knows of it. Any worker
 * that prints these can be killed and judged.
 */
import type { LeaseId, MessageId, RunId } from '../../machines/model/index.ts';

export type Acknowledgement =
  /** The message was committed; the run's sequence was then `sequence`. */
  | { readonly kind: 'committed'; readonly run: RunId; readonly message: MessageId; readonly sequence: number }
  /** The lease was promised to last until `expiresAt`. */
  | { readonly kind: 'promised'; readonly run: RunId; readonly lease: LeaseId; readonly expiresAt: number }
  /** The batch of facts that begins with `first` was settled as delivered. */
  | { readonly kind: 'published'; readonly run: RunId; readonly first: number }
  /** A message that had been answered was applied again when it was sent again. */
  | { readonly kind: 'twice'; readonly run: RunId; readonly message: MessageId };

export const printAcknowledgement = (acknowledgement: Acknowledgement): void =>
  console.log(JSON.stringify(acknowledgement));
