/**
 * A log file that cannot grow without bound, and whose failure never stops the work it describes. Of what is too
 * long the middle goes missing: how it began and how it ended are what people look for.
 */
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { writeAll } from '../outputs/output-store.ts';
import type { Tail } from './tail.ts';
import { createTail } from './tail.ts';

export interface LogFile {
  /** Resolves when the bytes are with the operating system; writes keep their order. */
  write(chunk: Uint8Array): Promise<void>;
  /** Writes what is kept of the end so far: of more that comes, again only the end is kept. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** Of the end of a log that was too long, beyond its bound. */
const endBytesMax = 64 * 1024;

export async function openLogFile(path: string, bytesMax: number): Promise<LogFile> {
  const file = await open(path, 'a', 0o600);
  let left = bytesMax;
  let full = false;
  let broken = false;
  const tail = createTail(endBytesMax);
  let last: Promise<void> = Promise.resolve();

  async function append(chunk: Uint8Array): Promise<void> {
    if (broken || chunk.byteLength === 0) return;
    if (full) return tail.add(chunk);
    try {
      await writeAll(file, chunk.subarray(0, left));
      full = chunk.byteLength > left;
      if (full) {
        await writeMark(file, `log truncated after ${bytesMax} bytes; its end follows when the attempt is over`);
        tail.add(chunk.subarray(left));
      }
      left = Math.max(0, left - chunk.byteLength);
    } catch {
      // A full disk must not fail the job: the workload's pipes are still drained.
      broken = true;
    }
  }

  async function appendEnd(): Promise<void> {
    if (broken) return;
    await writeEnd(file, tail).catch(() => {
      broken = true;
    });
  }
  const inOrder = (write: () => Promise<void>): Promise<void> => {
    last = last.then(write);
    return last;
  };
  return {
    write: (chunk) => inOrder(() => append(chunk)),
    settle: () => inOrder(appendEnd),
    async close() {
      await inOrder(appendEnd);
      await file.close();
    },
  };
}

async function writeEnd(file: FileHandle, tail: Tail): Promise<void> {
  const { bytes, dropped } = tail.take();
  if (dropped > 0) await writeMark(file, `${dropped} bytes are left out here`);
  await writeAll(file, bytes);
}

async function writeMark(file: FileHandle, text: string): Promise<void> {
  await writeAll(file, Buffer.from(`\n[forgeyard] ${text}\n`));
}
