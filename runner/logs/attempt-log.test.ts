import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openAttemptLog, stepFileName } from './attempt-log.ts';
import { openLogFile } from './log-file.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'logs-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));
const bytes = (text: string) => Buffer.from(text);

describe('logs', () => {
  test('a log at its limit is whole, one byte more is dropped with a mark, and only once', async () => {
    const whole = await openLogFile(join(dir, 'whole'), 10);
    await whole.write(bytes('12345'));
    await whole.write(bytes('67890'));
    await whole.close();
    expect(await readFile(join(dir, 'whole'), 'utf8')).toBe('1234567890');
    const cut = await openLogFile(join(dir, 'cut'), 10);
    for (const text of ['1234567', '890x', 'more', 'and more']) await cut.write(bytes(text));
    await cut.close();
    expect(await readFile(join(dir, 'cut'), 'utf8')).toBe('1234567890\n[forgeyard] log truncated after 10 bytes\n');
  });

  test('writes that are not awaited keep their order', async () => {
    const file = await openLogFile(join(dir, 'order'), 1_000);
    for (let index = 0; index < 100; index += 1) void file.write(bytes(`${index} `));
    await file.close();
    expect(await readFile(join(dir, 'order'), 'utf8')).toBe(
      Array.from({ length: 100 }, (_, index) => `${index} `).join(''),
    );
  });

  test('000 §340 output after the attempt was declared over is kept apart', async () => {
    const log = await openAttemptLog(dir, 'att', 1_000);
    const step = await log.openStep(0, 'compile all', 1);
    await step.write(bytes('in time\n'));
    log.declareOver();
    await step.write(bytes('too late\n'));
    await log.close();
    await step.write(bytes('after closing\n'));
    expect((await readdir(join(dir, 'att'))).sort()).toEqual(['1-compile-all.log', 'attempt.log', 'late.log']);
    expect(await readFile(join(dir, 'att', '1-compile-all.log'), 'utf8')).toBe('in time\n');
    expect(await readFile(join(dir, log.reference), 'utf8')).toBe('[forgeyard] step 1/1: compile all\nin time\n');
    expect(await readFile(join(dir, 'att', 'late.log'), 'utf8')).toBe('too late\n');
  });

  test('a step name cannot choose the folder of its log', () => {
    expect(stepFileName(0, '../../etc/x y')).toBe('1-..-..-etc-x-y.log');
    expect(stepFileName(2, 'é'.repeat(300)).length).toBeLessThan(80);
  });
});
