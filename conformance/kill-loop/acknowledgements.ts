/**
 * What a worker prints, one line each, after the store has answered: the only thing the killer knows of it. Any worker
 * that prints these can be killed and judged.
 */
import { z } from 'zod';
import type { LeaseId, MessageId, RunId } from '../../machines/model/index.ts';
import { id } from '../../store/suite/index.ts';

export type Acknowledgement =
  /** The message was committed; the run's sequence was then `sequence`. */
  | { readonly kind: 'committed'; readonly run: RunId; readonly message: MessageId; readonly sequence: number }
  /** The lease was promised to last until `expiresAt`. */
  | { readonly kind: 'promised'; readonly run: RunId; readonly lease: LeaseId; readonly expiresAt: number }
  /** The batch of facts that begins with `first` was settled as delivered. */
  | { readonly kind: 'published'; readonly run: RunId; readonly first: number }
  /** A message that had been answered was applied again when it was sent again. */
  | { readonly kind: 'twice'; readonly run: RunId; readonly message: MessageId };

const run = z.string().transform((value) => id<RunId>(value));
const message = z.string().transform((value) => id<MessageId>(value));
const line = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('committed'), run, message, sequence: z.number() }),
  z.strictObject({
    kind: z.literal('promised'),
    run,
    lease: z.string().transform((value) => id<LeaseId>(value)),
    expiresAt: z.number(),
  }),
  z.strictObject({ kind: z.literal('published'), run, first: z.number() }),
  z.strictObject({ kind: z.literal('twice'), run, message }),
]);

export const printAcknowledgement = (acknowledgement: Acknowledgement): void =>
  console.log(JSON.stringify(acknowledgement));

/** Null for a line that the kill cut in half: what was not said in full was not said. */
export function parseAcknowledgement(text: string): Acknowledgement | null {
  try {
    return line.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
