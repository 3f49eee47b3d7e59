/** A plan from a file: bounded while it is read, strict UTF-8, with the source snapshot of its directory. */
import { open } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import type { SourceSnapshot } from '../../machines/plan/index.ts';
import { planLimits } from '../../machines/plan/index.ts';
import type { LocatedProblem } from './located-notice.ts';
import { fileNotice } from './located-notice.ts';
import type { ParsedPlan } from './parse-plan.ts';
import { parsePlanText } from './parse-plan.ts';
import { sourceSnapshot } from './source-snapshot.ts';
import type { PlanFormat } from './yaml-tree.ts';

export interface ReadOptions {
  /** By default what git says about the directory of the file. */
  readonly source?: SourceSnapshot;
  /** By default JSON for `.json`, YAML for everything else. */
  readonly format?: PlanFormat;
}

/** `text` is null when there is none to show beside the problems. */
export type PlanFileResult = ParsedPlan & { readonly text: string | null };

export async function readPlanFile(path: string, options: ReadOptions = {}): Promise<PlanFileResult> {
  const bytes = await readBounded(path, planLimits.fileBytesMax.value);
  if (!bytes.ok) return { ok: false, problems: [bytes.problem], text: null };
  const text = decode(bytes.bytes);
  if (text === null) {
    const found = fileNotice(path, 'NotUtf8', 'the file is not UTF-8 text', 'save it as UTF-8');
    return { ok: false, problems: [found], text: null };
  }
  const format = options.format ?? (extname(path).toLowerCase() === '.json' ? 'json' : 'yaml');
  const source = options.source ?? (await sourceSnapshot(dirname(resolve(path))));
  return { ...parsePlanText(text, { file: path, format, source }), text };
}

type Bytes =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly problem: LocatedProblem };

/** Reads little more than is allowed at most. The size a file system reports is not asked: it may be stale, or mean nothing. */
async function readBounded(path: string, bytesMax: number): Promise<Bytes> {
  try {
    await using file = await open(path, 'r');
    const chunks: Uint8Array[] = [];
    let length = 0;
    while (length <= bytesMax) {
      const { bytesRead, buffer } = await file.read({ buffer: new Uint8Array(64 * 1024) });
      if (bytesRead === 0) return { ok: true, bytes: Buffer.concat(chunks) };
      chunks.push(buffer.subarray(0, bytesRead));
      length += bytesRead;
    }
    const tooLarge = fileNotice(
      path,
      'FileTooLarge',
      `larger than ${bytesMax} bytes`,
      'use a matrix, or build the plan with the library',
    );
    return { ok: false, problem: tooLarge };
  } catch (error) {
    return { ok: false, problem: fileNotice(path, 'FileUnreadable', unreadable(error)) };
  }
}

const causes: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'reading it is not allowed',
  EISDIR: 'this is a directory',
  ENOTDIR: 'a part of its path is not a directory',
};

function unreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return causes[code] ?? `the file cannot be read (${code})`;
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
