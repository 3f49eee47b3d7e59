/** Plans for suites: the same compiler as for real ones, with a digest that needs no crypto. */
import type { Digest } from '../../machines/index.ts';
import type { BuiltNode, ExecutablePlan, RunFile } from '../../machines/plan/index.ts';
import { planOf } from '../../machines/plan/index.ts';
import { idOf } from './ids.ts';

/** FNV-1a, spread over 64 hex digits: different texts differ, and that is all a suite needs. */
export function fakeDigest(text: string): Digest {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return idOf<Digest>(`sha256:${hash.toString(16).padStart(8, '0').repeat(8)}`);
}

export type RunHeader = Omit<Partial<RunFile>, 'jobs' | 'gates'>;

/** A plan of these nodes; the header is made up where it is not given. Retries wait only where a plan says so. */
export function planFor(nodes: readonly BuiltNode[], header: RunHeader = {}): ExecutablePlan {
  const key = JSON.stringify([nodes, header]);
  const known = compiled.get(key) ?? compile(nodes, header);
  compiled.set(key, known);
  return known;
}

/** Suites build the same plans again and again, and a plan never changes. */
const compiled = new Map<string, ExecutablePlan>();

function compile(nodes: readonly BuiltNode[], header: RunHeader): ExecutablePlan {
  return planOf({ project: 'suite', name: 'plan', retry: { backoff: 'none' }, ...header }, nodes, fakeDigest);
}
