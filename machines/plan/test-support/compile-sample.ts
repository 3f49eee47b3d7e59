/** Helpers for tests of this folder: a digest without node built-ins, and short ways to a result. */
import type { Digest } from '../../model/ids.ts';
import type { CompileOptions, CompileResult } from '../compile.ts';
import { compilePlan } from '../compile.ts';
import type { ExecutablePlan, PlannedGate, PlannedJob } from '../plan.ts';

/** FNV-1a, widened: good enough to tell specs apart in a test. */
export function sampleDigest(text: string): Digest {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  const digest = `sha256:${hash.toString(16).padStart(64, '0')}`;
  if (!isDigest(digest)) throw new Error('no digest');
  return digest;
}

function isDigest(text: string): text is Digest {
  return text.startsWith('sha256:');
}

export function compileSample(document: unknown, options: Partial<CompileOptions> = {}): CompileResult {
  return compilePlan(document, {
    digest: sampleDigest,
    source: { kind: 'directory', commit: null, dirty: false },
    ...options,
  });
}

/** A whole document around some jobs and gates. */
export function sample(jobs: Record<string, unknown>, rest: Record<string, unknown> = {}): Record<string, unknown> {
  return { project: 'p', name: 'n', jobs, ...rest };
}

export function planSample(document: unknown): ExecutablePlan {
  const compiled = compileSample(document);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.plan;
}

export function jobNamed(plan: ExecutablePlan, name: string): PlannedJob {
  const node = plan.nodes.find((candidate) => candidate.name === name);
  if (node?.kind !== 'job') throw new Error(`no job ${name}`);
  return node;
}

export function gateNamed(plan: ExecutablePlan, name: string): PlannedGate {
  const node = plan.nodes.find((candidate) => candidate.name === name);
  if (node?.kind !== 'gate') throw new Error(`no gate ${name}`);
  return node;
}

/** `name condition` of each edge, with `?` for one that is not required. */
export function edgesOf(plan: ExecutablePlan, name: string): string[] {
  const node = plan.nodes.find((candidate) => candidate.name === name);
  return (node?.needs ?? []).map(
    ({ upstream, condition, required }) => `${plan.nodes[upstream]?.name} ${condition}${required ? '' : '?'}`,
  );
}

/** `Code at path` of each problem, or `ok`. */
export function problemsOfSample(document: unknown, options: Partial<CompileOptions> = {}): string[] {
  const compiled = compileSample(document, options);
  return compiled.ok ? ['ok'] : compiled.problems.map(({ code, path }) => `${code} at ${path.join('.')}`);
}
