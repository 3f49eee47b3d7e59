/** Ids as people see and type them: `run_` and the like before the base 32 of the UUID. */
import { encodedLength, encodeUuid, isUuid, normalizedPrefix, uuidPrefix } from './base32.ts';

export const idKinds = ['run', 'job', 'gate', 'att', 'lease', 'runner', 'session', 'event'] as const;
export type IdKind = (typeof idKinds)[number];

export const publicId = (kind: IdKind, uuid: string): string => `${kind}_${encodeUuid(uuid)}`;

/** Runners of other processes may be called anything; only UUIDs are shown in base 32. */
export const publicIdOrText = (kind: IdKind, id: string): string => (isUuid(id) ? publicId(kind, id) : id);

const uuidInText =
  /\b(run|job|gate|attempt|lease|runner|session|event) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g;

/** Texts from below name things as "run <uuid>"; people get the id they can type. */
export const withPublicIds = (text: string): string =>
  text.replace(uuidInText, (found: string, word: string, uuid: string) => {
    const kind = word === 'attempt' ? 'att' : idKinds.find((each) => each === word);
    return kind === undefined ? found : `${word} ${publicId(kind, uuid)}`;
  });

export interface IdPrefix {
  /** For the query; others may share it. */
  readonly uuidPrefix: string;
  /** Decides exactly. */
  matches(uuid: string): boolean;
}

export type ParsedId =
  | { readonly kind: 'prefix'; readonly prefix: IdPrefix }
  | { readonly kind: 'other-kind'; readonly found: IdKind }
  | { readonly kind: 'malformed' };

/** An id, the beginning of one (with or without the part before `_`), or a UUID. */
export function parseId(text: string, expected: IdKind): ParsedId {
  const lower = text.toLowerCase();
  if (isUuid(lower)) return { kind: 'prefix', prefix: { uuidPrefix: lower, matches: (uuid) => uuid === lower } };
  const mark = lower.indexOf('_');
  const kind = mark < 0 ? expected : idKinds.find((each) => each === lower.slice(0, mark));
  if (kind === undefined) return { kind: 'malformed' };
  if (kind !== expected) return { kind: 'other-kind', found: kind };
  const typed = lower.slice(mark + 1);
  const prefix = normalizedPrefix(typed);
  if (prefix === null || typed.length > encodedLength) return { kind: 'malformed' };
  return {
    kind: 'prefix',
    prefix: { uuidPrefix: uuidPrefix(prefix), matches: (uuid) => encodeUuid(uuid).startsWith(prefix) },
  };
}
