import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

describe('pure context', () => {
  test.each([
    ['Date', () => new Date(0)],
    ['Date', () => Date.now()],
    ['performance', () => performance.now()],
    ['setImmediate', () => setImmediate(() => {})],
    ['process', () => process.env],
    ['fetch', () => fetch('about:blank')],
    ['crypto', () => crypto.randomUUID()],
    ['Math.random', () => Math.random()],
  ])('%s is out of reach of a test of machines/', (name, use) => {
    expect(use).toThrow(`${name} was used where nothing ambient may be`);
  });

  test('files, assertions and generated cases still work', async () => {
    await Promise.resolve();
    expect(readFileSync('package.json', 'utf8')).toContain('"forgeyard"');
    fc.assert(fc.property(fc.string(), (text) => text.length >= 0));
  });
});
