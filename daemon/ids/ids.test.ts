import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createUuidV7, encodeUuid, idKinds, isUuid, parseId, publicId, withPublicIds } from './index.ts';

const kinds = fc.constantFrom(...idKinds);

describe('ids for people', () => {
  it('an id that is shown names its UUID when it is typed back, whole or in upper case', () => {
    fc.assert(
      fc.property(fc.uuid(), kinds, (uuid, kind) => {
        for (const typed of [publicId(kind, uuid), publicId(kind, uuid).toUpperCase(), uuid]) {
          const parsed = parseId(typed, kind);
          expect(parsed.kind === 'prefix' && parsed.prefix.matches(uuid)).toBe(true);
        }
      }),
    );
  });

  it('every beginning of an id finds it, and its query prefix is a beginning of the UUID', () => {
    fc.assert(
      fc.property(fc.uuid(), kinds, fc.integer({ min: 1, max: 26 }), (uuid, kind, length) => {
        const typed = `${kind}_${encodeUuid(uuid).slice(0, length)}`;
        const parsed = parseId(typed, kind);
        if (parsed.kind !== 'prefix') throw new Error(`refused ${typed}`);
        expect(parsed.prefix.matches(uuid)).toBe(true);
        expect(uuid.startsWith(parsed.prefix.uuidPrefix)).toBe(true);
      }),
    );
  });

  it('a whole id matches no other UUID, and the order of UUIDs is the order of ids', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (one, other) => {
        fc.pre(one !== other);
        const parsed = parseId(publicId('run', one), 'run');
        expect(parsed.kind === 'prefix' && parsed.prefix.matches(other)).toBe(false);
        expect(encodeUuid(one) < encodeUuid(other)).toBe(one < other);
      }),
    );
  });

  it('an id of another kind, or text that is no id, is told apart', () => {
    const uuid = '01890a5d-ac96-774b-bcce-b302099a8057';
    expect(parseId(publicId('job', uuid), 'run')).toEqual({ kind: 'other-kind', found: 'job' });
    for (const text of [
      '',
      'run_',
      'run_8',
      'run_u',
      'dog_01',
      'run_0123456789012345678901234567',
      '../../etc',
      'run_01/x',
    ])
      expect(parseId(text, 'run'), text).toEqual({ kind: 'malformed' });
    expect(parseId('run_O1IL', 'run').kind).toBe('prefix');
  });
});

describe('ids in a text', () => {
  it('what a text calls by a kind and a UUID is shown as it can be typed; anything else stays', () => {
    const uuid = '0190a2b4-5c6d-7e8f-9012-3456789abcde';
    expect(withPublicIds(`timer x of run ${uuid}: attempt ${uuid}, a rerun ${uuid}`)).toBe(
      `timer x of run ${publicId('run', uuid)}: attempt ${publicId('att', uuid)}, a rerun ${uuid}`,
    );
  });
});

describe('UUIDv7', () => {
  it('ids are version 7, unique, and in the order of their making even while the clock stands or is set back', () => {
    const times = [1_000, 1_000, 999, 1_001, 1_001, 500];
    let at = 0;
    const next = createUuidV7({ now: () => times[at++ % times.length] ?? 0, randomBytes });
    const made = Array.from({ length: 2_000 }, next);
    expect(made.every((id) => isUuid(id) && id[14] === '7' && '89ab'.includes(id[19] ?? ''))).toBe(true);
    expect([...made].sort()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
  });

  it('a millisecond whose random space is used up borrows from the next one', () => {
    const next = createUuidV7({ now: () => 7, randomBytes: (count) => new Uint8Array(count).fill(255) });
    const made = Array.from({ length: 50 }, next);
    expect([...made].sort()).toEqual(made);
  });
});
