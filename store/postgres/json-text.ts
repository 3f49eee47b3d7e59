/**
 * JSON as the server can read it. Text of PostgreSQL holds neither U+0000 nor half a surrogate pair, and a workload's
 * message may have both (binary output, text cut in the middle of a character): they become U+FFFD, as in any decoder,
 * instead of a commit that can never be written.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('\\u') ? text.replace(unreadable, readable) : text;
}

/** As `JSON.stringify` writes them; an escaped backslash is matched so that what follows it is not mistaken. */
const unreadable = /\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g;
const readable = (found: string): string => (found === '\\\\' ? found : '\uFFFD');

/** The same for text outside of JSON; half a pair is replaced on its way by the driver. */
export const plainText = <T extends string | null>(text: T): T | string =>
  text === null ? text : text.replaceAll('\u0000', '\uFFFD');
