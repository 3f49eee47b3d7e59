/**
 * Bytes on the wire. Every transport, the in-process one included, passes each message through here,
 * so that nothing is said in one process that could not be said between two.
 */
import type { z } from 'zod';
import type { RunnerReply, RunnerRequest } from './messages.ts';
import { messageBytesMax, replySchema, requestSchema } from './messages.ts';

export type Decoded<T> = { readonly ok: true; readonly message: T } | { readonly ok: false; readonly problem: string };

export const encodeRequest = (request: RunnerRequest): Decoded<string> => encode(requestSchema, request);
export const encodeReply = (reply: RunnerReply): Decoded<string> => encode(replySchema, reply);
export const decodeRequest = (text: string): Decoded<RunnerRequest> => decode(requestSchema, text);
export const decodeReply = (text: string): Decoded<RunnerReply> => decode(replySchema, text);

/** What a value takes inside a message. */
export const encodedBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function encode<T>(schema: z.ZodType<T>, message: T): Decoded<string> {
  const checked = schema.safeParse(message);
  if (!checked.success) return { ok: false, problem: describe(checked.error) };
  const text = JSON.stringify(checked.data);
  return tooLong(text) ?? { ok: true, message: text };
}

function decode<T>(schema: z.ZodType<T>, text: string): Decoded<T> {
  const long = tooLong(text);
  if (long !== null) return long;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: 'not JSON' };
  }
  const checked = schema.safeParse(value);
  return checked.success ? { ok: true, message: checked.data } : { ok: false, problem: describe(checked.error) };
}

function tooLong(text: string): { readonly ok: false; readonly problem: string } | null {
  const bytes = Buffer.byteLength(text);
  return bytes <= messageBytesMax
    ? null
    : { ok: false, problem: `the message has ${bytes} bytes, more than the limit of ${messageBytesMax}` };
}

/** The first complaint is enough to find the sender; values are left out because they may be private. */
function describe(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue === undefined ? 'malformed message' : `${issue.path.join('.') || 'message'}: ${issue.message}`;
}
