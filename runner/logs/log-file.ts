/** A log file that cannot grow without bound, and whose failure never stops the work it describes. */
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { writeAll } from '../outputs/output-store.ts';

export interface LogFile {
  /** Resolves when the bytes are with the operating system; writes keep their order. */
  write(chunk: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export async function openLogFile(path: string, bytesMax: number): Promise<LogFile> {
  const file = await open(path, 'a', 0o600);
  let left = bytesMax;
  let full = false;
  let broken = false;
  let last: Promise<void> = Promise.resolve();

  async function append(chunk: Uint8Array): Promise<void> {
    if (full || broken || chunk.byteLength === 0) return;
    try {
      await writeAll(file, chunk.subarray(0, left));
      full = chunk.byteLength > left;
      left = Math.max(0, left - chunk.byteLength);
      if (full) await writeMark(file, bytesMax);
    } catch {
      // A full disk must not fail the job: the workload's pipes are still drained.
      broken = true;
    }
  }

  return {
    write(chunk) {
      last = last.then(() => append(chunk));
      return last;
    },
    async close() {
      await last;
      await file.close();
    },
  };
}

async function writeMark(file: FileHandle, bytesMax: number): Promise<void> {
  await writeAll(file, Buffer.from(`\n[forgeyard] log truncated after ${bytesMax} bytes\n`));
}
