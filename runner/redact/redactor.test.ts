import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from './redactor.ts';
import { secretForms } from './secret-forms.ts';

function redact(secrets: readonly string[], chunks: readonly string[]): string {
  const redactor = createRedactor(secrets.map((secret) => Buffer.from(secret)));
  const parts = chunks.map((chunk) => redactor.push(Buffer.from(chunk, 'latin1')));
  return Buffer.concat([...parts, redactor.flush()]).toString('latin1');
}

/** The claim itself, without streams: mark every byte of every occurrence, write one mask per marked stretch. */
function model(secrets: readonly string[], text: string): string {
  const marked = Array.from(text, () => false);
  const begins = new Set<number>();
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); secret !== '' && at !== -1; at = text.indexOf(secret, at + 1)) {
      begins.add(at);
      marked.fill(true, at, at + secret.length);
    }
  }
  return Array.from(text, (char, at) => (marked[at] ? (at > 0 && marked[at - 1] ? '' : '***') : char)).join('');
}

describe('redactor', () => {
  test('000 §229 a secret cut at any offset never shows', () => {
    const secret = 'hunter2-and-more';
    const text = `before ${secret} after`;
    for (let cut = 0; cut <= text.length; cut += 1) {
      expect(redact([secret], [text.slice(0, cut), text.slice(cut)])).toBe('before *** after');
    }
    expect(redact([secret], [...text])).toBe('before *** after');
  });

  test('the result equals the model for any secrets, text and cuts', () => {
    const letters = (max: number) => fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: max });
    fc.assert(
      fc.property(fc.array(letters(5), { maxLength: 4 }), fc.array(letters(6), { maxLength: 8 }), (secrets, chunks) => {
        expect(redact(secrets, chunks)).toBe(model(secrets, chunks.join('')));
      }),
      { numRuns: 2000 },
    );
  });

  test('no secret of arbitrary bytes survives in arbitrary chunks', () => {
    const bytes = fc.uint8Array({ minLength: 4, maxLength: 12 });
    fc.assert(
      fc.property(
        bytes,
        fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 5 }),
        fc.nat(12),
        (secret, noise, cut) => {
          const redactor = createRedactor([secret]);
          const chunks = [...noise, secret.subarray(0, cut), secret.subarray(cut), ...noise];
          const out = Buffer.concat([...chunks.map((chunk) => redactor.push(chunk)), redactor.flush()]);
          // A mask could itself spell the secret only if the secret is made of stars.
          fc.pre(!secret.every((byte) => byte === 0x2a));
          expect(out.includes(Buffer.from('***'))).toBe(true);
          expect(out.length).toBeLessThanOrEqual(Buffer.concat(chunks).length - secret.length + 3);
        },
      ),
    );
  });

  test('a longer secret that begins like a shorter one is not half shown', () => {
    expect(redact(['abc', 'abcdef'], ['xabc', 'defx'])).toBe('x***x');
    expect(redact(['abX', 'bXcd'], ['a', 'bX', 'cd!'])).toBe('***!');
  });

  test('only what may begin a secret is held back', () => {
    const redactor = createRedactor([Buffer.from('secret')]);
    expect(redactor.push(Buffer.from('a line\nsec')).toString()).toBe('a line\n');
    expect(redactor.push(Buffer.from('ond')).toString()).toBe('second');
    expect(redactor.flush().toString()).toBe('');
  });
});

describe('redactor: forms of a secret', () => {
  const shows = (value: string, printed: string) =>
    redact(
      secretForms([value]).map((form) => Buffer.from(form).toString('latin1')),
      [printed],
    );

  test('the lines of a multi-line secret are secrets, short ones are not', () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADAN\n}\n-----END KEY-----';
    expect(shows(key, 'MIIEvQIBADAN }')).toBe('*** }');
    expect(shows(key, key)).toBe('***');
  });
  test('base64 and URL forms are covered', () => {
    expect(shows('p@ss word/1', Buffer.from('p@ss word/1').toString('base64'))).toBe('***');
    expect(shows('p@ss word/1', encodeURIComponent('p@ss word/1'))).toBe('***');
  });
});
