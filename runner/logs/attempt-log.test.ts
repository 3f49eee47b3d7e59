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
  const written = async (name: string, bytesMax: number, chunks: readonly string[]): Promise<string> => {
    const file = await openLogFile(join(dir, name), bytesMax);
    for (const chunk of chunks) await file.write(bytes(chunk));
    await file.close();
    return await readFile(join(dir, name), 'utf8');
  };
  const cutMark = '\n[forgeyard] log truncated after 10 bytes; its end follows when the attempt is over\n';

  test('a log at its limit is whole; with one byte more a mark says so, once, and nothing is lost yet', async () => {
    expect(await written('whole', 10, ['12345', '67890'])).toBe('1234567890');
    expect(await written('more', 10, ['1234567', '890x', 'more', 'and more'])).toBe(
      `1234567890${cutMark}xmoreand more`,
    );
  });

  test('of a log that is far too long the end is kept, whatever the pieces it comes in', async () => {
    const kept = 64 * 1024;
    const late = `${'y'.repeat(kept - 8)}THE END\n`;
    const expected = `1234567890${cutMark}\n[forgeyard] 7 bytes are left out here\n${late}`;
    expect(await written('one', 10, [`1234567890dropped${late}`])).toBe(expected);
    expect(await written('two', 10, ['1234567890drop', `ped${late}`])).toBe(expected);
    const pieces = `1234567890dropped${late}`.match(/[\s\S]{1,1000}/g) ?? [];
    expect(await written('many', 10, pieces)).toBe(expected);
  });

  test('the end that was kept is in the file once it is asked for, and what comes after it follows', async () => {
    const path = join(dir, 'settled');
    const file = await openLogFile(path, 10);
    await file.write(bytes('1234567890 and the end'));
    await file.settle();
    expect(await readFile(path, 'utf8')).toBe(`1234567890${cutMark} and the end`);
    await file.write(bytes(', and a remark'));
    await file.close();
    expect(await readFile(path, 'utf8')).toBe(`1234567890${cutMark} and the end, and a remark`);
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
