/**
 * Plans from code, for programs, tests and benchmarks: the same document a file holds, the same checks.
 *
 *   const plan = planOf({ project: 'demo', name: 'small' }, [job('a'), job('b', { needs: ['a'] })], digest);
 */
import type { Digest } from '../model/ids.ts';
import type { CompileResult } from './compile.ts';
import { compilePlan } from './compile.ts';
import type { ExecutablePlan, SourceSnapshot } from './plan.ts';
import type { PlanFile } from './plan-file.ts';
import type { PlanProblem } from './problem.ts';
import { problem } from './problem.ts';

export type JobFile = PlanFile['jobs'][string];
export type GateFile = NonNullable<NonNullable<PlanFile['gates']>[string]>;
export type RunFile = Omit<PlanFile, 'jobs' | 'gates'> & { readonly source?: SourceSnapshot };

export type BuiltNode =
  | { readonly kind: 'job'; readonly name: string; readonly written: JobFile }
  | { readonly kind: 'gate'; readonly name: string; readonly written: GateFile };

/** A job; without steps of its own it runs `true`. */
export function job(name: string, written: Partial<JobFile> = {}): BuiltNode {
  return { kind: 'job', name, written: { steps: [{ argv: ['true'] }], ...written } };
}

export function gate(name: string, written: GateFile = {}): BuiltNode {
  return { kind: 'gate', name, written };
}

const noSource: SourceSnapshot = { kind: 'directory', commit: null, dirty: false };

/** Plan order is jobs as listed, then gates as listed. */
export function compileNodes(
  run: RunFile,
  nodes: readonly BuiltNode[],
  digest: (canonicalJson: string) => Digest,
): CompileResult {
  const { source = noSource, ...header } = run;
  const repeated = repeatedNames(nodes);
  if (repeated.length > 0) return { ok: false, problems: repeated };
  const jobs = nodes.flatMap((node) => (node.kind === 'job' ? [[node.name, node.written] as const] : []));
  const gates = nodes.flatMap((node) => (node.kind === 'gate' ? [[node.name, node.written] as const] : []));
  return compilePlan(
    { ...header, jobs: Object.fromEntries(jobs), gates: Object.fromEntries(gates) },
    { digest, source },
  );
}

/** A document cannot hold two entries of one kind and name, so they are found before it is made. */
function repeatedNames(nodes: readonly BuiltNode[]): PlanProblem[] {
  const seen = new Set<string>();
  return nodes.flatMap(({ kind, name }) => {
    const key = `${kind} ${name}`;
    const isRepeated = seen.has(key);
    seen.add(key);
    return isRepeated ? [problem('DuplicateName', [`${kind}s`, name], `there are two ${kind}s named "${name}"`)] : [];
  });
}

/**
 * The plan itself.
 * @throws Error naming every problem: in a program a wrong plan is a mistake of its author.
 */
export function planOf(
  run: RunFile,
  nodes: readonly BuiltNode[],
  digest: (canonicalJson: string) => Digest,
): ExecutablePlan {
  const compiled = compileNodes(run, nodes, digest);
  if (compiled.ok) return compiled.plan;
  const lines = compiled.problems.map(({ code, path, message }) => `${code} at ${path.join('.')}: ${message}`);
  throw new Error(`the plan is wrong:\n${lines.join('\n')}`);
}
