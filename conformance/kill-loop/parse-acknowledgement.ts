/** The killer's side of the lines. A file of its own, so that a worker, started hundreds of times, loads no parser. */
import { z } from 'zod';
import type { LeaseId, MessageId, RunId } from '../../machines/model/index.ts';
import { id } from '../../store/suite/index.ts';
import type { Acknowledgement } from './acknowledgements.ts';

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

/** Null for a line that the kill cut in half: what was not said in full was not said. */
export function parseAcknowledgement(text: string): Acknowledgement | null {
  try {
    return line.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
