/**
 * Takes secrets out of a stream of bytes, wherever the stream is cut (000 §229).
 *
 *  R1 Every byte that belongs to an occurrence of a secret is replaced; touching and overlapping
 *     occurrences become one mask.
 *  R2 The result does not depend on where the stream was cut into chunks.
 *  R3 A byte is held back only while it may still turn out to begin a secret.
 *
 * Bytes are kept as Latin-1 text, one character per byte, so that the engine's text search works on
 * them and a secret may be cut in the middle of a UTF-8 character.
 */
export interface Redactor {
  push(chunk: Uint8Array): Buffer;
  /** The end of the stream: what was held back is no secret any more. */
  flush(): Buffer;
}

const mask = '***';

export function createRedactor(secrets: readonly Uint8Array[]): Redactor {
  const patterns = [...new Set(secrets.map((secret) => Buffer.from(secret).toString('latin1')))].filter(
    (pattern) => pattern.length > 0,
  );
  const longest = Math.max(0, ...patterns.map((pattern) => pattern.length));
  let held = '';
  /** Leading characters of `held` whose mask is already written; -1: the last thing written was no mask. */
  let masked = -1;

  function scan(text: string, end: number): string {
    let written = '';
    let position = 0;
    let open = masked;
    for (const [from, to] of occurrences(text, patterns)) {
      if (from >= end) break;
      if (open >= from) {
        open = Math.max(open, to);
        continue;
      }
      position = Math.max(position, open);
      written += text.slice(position, from) + mask;
      open = to;
      position = from;
    }
    const rest = Math.max(position, open);
    if (rest < end) {
      written += text.slice(rest, end);
      masked = -1;
    } else {
      masked = open < end ? -1 : open - end;
    }
    held = text.slice(end);
    return written;
  }

  return {
    push(chunk) {
      if (longest === 0) return Buffer.from(chunk);
      const text = held + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
      return Buffer.from(scan(text, firstUndecided(text, patterns, longest)), 'latin1');
    },
    flush() {
      return Buffer.from(scan(held, held.length), 'latin1');
    },
  };
}

/** All occurrences, overlapping ones too, by start. */
function occurrences(text: string, patterns: readonly string[]): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  for (const pattern of patterns) {
    for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + 1)) {
      found.push([at, at + pattern.length]);
    }
  }
  return found.sort((a, b) => a[0] - b[0]);
}

/** The first position from which the rest of the text is the beginning of some pattern, but not all of it. */
function firstUndecided(text: string, patterns: readonly string[], longest: number): number {
  const earliest = Math.max(0, text.length - longest + 1);
  let first = text.length;
  for (const pattern of patterns) {
    const head = pattern.charAt(0);
    for (let at = text.indexOf(head, earliest); at !== -1 && at < first; at = text.indexOf(head, at + 1)) {
      const rest = text.length - at;
      if (rest < pattern.length && text.endsWith(pattern.slice(0, rest))) first = at;
    }
  }
  return first;
}
