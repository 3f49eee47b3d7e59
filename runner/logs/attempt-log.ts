/**
 * The logs of one attempt: `attempt.log` with everything in order, one file per step with its raw
 * lines, and `late.log` for what still arrives after the attempt was declared over, which is kept for
 * diagnosis but is no part of the result (000 §116, §340).
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogFile } from './log-file.ts';
import { openLogFile } from './log-file.ts';

export interface AttemptLog {
  /** Relative to the log folder; travels in reports. */
  readonly reference: string;
  /** A remark of the agent itself. */
  note(text: string): Promise<void>;
  openStep(index: number, name: string, total: number): Promise<StepLog>;
  /** Before the end of the attempt is said: who hears of it finds the end of the log too. */
  settle(): Promise<void>;
  /** From here on output is late. */
  declareOver(): void;
  close(): Promise<void>;
}

export interface StepLog {
  write(chunk: Uint8Array): Promise<void>;
}

export async function openAttemptLog(logDir: string, attempt: string, bytesMax: number): Promise<AttemptLog> {
  const directory = join(logDir, attempt);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const all = await openLogFile(join(directory, 'attempt.log'), bytesMax);
  const files: LogFile[] = [all];
  let late: Promise<LogFile | null> | null = null;
  let over = false;
  let closed = false;

  const openLate = () => {
    late ??= openLogFile(join(directory, 'late.log'), bytesMax).catch(() => null);
    return late;
  };
  return {
    reference: `${attempt}/attempt.log`,
    note: (text) => all.write(Buffer.from(`[forgeyard] ${text}\n`)),
    async openStep(index, name, total) {
      await all.write(Buffer.from(`[forgeyard] step ${index + 1}/${total}: ${name}\n`));
      const step = await openLogFile(join(directory, stepFileName(index, name)), bytesMax);
      files.push(step);
      return {
        async write(chunk) {
          if (closed || chunk.byteLength === 0) return;
          if (over) await (await openLate())?.write(chunk);
          else await Promise.all([step.write(chunk), all.write(chunk)]);
        },
      };
    },
    async settle() {
      await Promise.all(files.map((file) => file.settle()));
    },
    declareOver() {
      over = true;
    },
    async close() {
      closed = true;
      await Promise.all(files.map((file) => file.close()));
      await (await late)?.close();
    },
  };
}

export function stepFileName(index: number, name: string): string {
  return `${index + 1}-${name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 64)}.log`;
}
