/** From a parsed document to its entries: the header, and every job and gate judged on its own. */
import type { z } from 'zod';
import type { Combination } from './matrix.ts';
import { combinationCount, expandMatrix } from './matrix.ts';
import type { Nearest } from './nearest.ts';
import { nearestFinder } from './nearest.ts';
import { namePattern } from './plan-fields.ts';
import type { WrittenGate, WrittenHeader, WrittenJob } from './plan-file.ts';
import { gateSchema, headerSchema, jobSchema } from './plan-file.ts';
import { planLimits } from './plan-limits.ts';
import type { DocumentPath, PlanProblem, PlanWarning } from './problem.ts';
import { problem } from './problem.ts';
import { problemsOf } from './schema-problems.ts';
import type { WrittenNeed } from './written-need.ts';
import { needsSchema } from './written-need.ts';

interface EntryPlace {
  readonly name: string;
  readonly path: DocumentPath;
}

export interface JobEntry extends EntryPlace {
  readonly kind: 'job';
  readonly written: WrittenJob;
  /** One for each child of a matrix; a single null for a plain job. */
  readonly combinations: readonly (Combination | null)[];
}

export interface GateEntry extends EntryPlace {
  readonly kind: 'gate';
  readonly written: WrittenGate;
}

/** Something is wrong with it; its name still counts, so that references to it are no further problem. */
export interface BrokenEntry extends EntryPlace {
  readonly kind: 'broken';
  /** What can be understood of its needs, to be checked with the others. */
  readonly needs: readonly WrittenNeed[];
}

export type PlanEntry = JobEntry | GateEntry | BrokenEntry;

export interface PlanDocument {
  readonly header: WrittenHeader | null;
  readonly entries: readonly PlanEntry[];
  readonly problems: PlanProblem[];
  readonly warnings: PlanWarning[];
  readonly nearest: Nearest;
}

/** Entries are in plan order: the order of the document. */
export function readDocument(document: unknown, nodesMax: number): PlanDocument {
  const budget = { nodesLeft: nodesMax };
  const nearest = nearestFinder();
  const problems: PlanProblem[] = [];
  const warnings: PlanWarning[] = [];
  const header = parse(headerSchema, withoutEntries(document), { path: [], nearest, problems });
  const entries: PlanEntry[] = [];
  const sections = isMap(document) ? Object.entries(document) : [];
  for (const [section, content] of sections) {
    if ((section !== 'jobs' && section !== 'gates') || !isMap(content)) continue;
    for (const [name, raw] of Object.entries(content)) {
      const path = [section, name];
      const context = { path, nearest, problems };
      if (!isName(name)) {
        problems.push(
          problem(
            'InvalidKey',
            path,
            `a name has at most ${planLimits.nameLengthMax.value} letters, digits, "_", "." and "-", and begins with a letter`,
          ),
        );
      }
      entries.push(
        section === 'jobs' ? readJob(name, raw, { ...context, warnings, budget }) : readGate(name, raw, context),
      );
      budget.nodesLeft -= 1;
    }
  }
  if (budget.nodesLeft < 0) {
    problems.push(problem('GraphTooLarge', [], `a plan has at most ${nodesMax} jobs and gates`));
  }
  return { header, entries, problems, warnings, nearest };
}

/** The maps of jobs and gates, emptied: their entries are judged one by one. */
function withoutEntries(document: unknown): unknown {
  if (!isMap(document)) return document;
  return Object.fromEntries(
    Object.entries(document).map(([key, value]) => [
      key,
      (key === 'jobs' || key === 'gates') && isMap(value) ? {} : value,
    ]),
  );
}

interface ReadContext {
  readonly path: DocumentPath;
  readonly nearest: Nearest;
  readonly problems: PlanProblem[];
}

interface JobContext extends ReadContext {
  readonly warnings: PlanWarning[];
  readonly budget: { nodesLeft: number };
}

function readJob(name: string, raw: unknown, context: JobContext): PlanEntry {
  const written = parse(jobSchema, raw, context);
  if (written === null) return broken(name, raw, context);
  if (written.matrix === undefined) return { kind: 'job', name, path: context.path, written, combinations: [null] };
  // Counted before they are made: many matrices in a small file could fill the memory.
  context.budget.nodesLeft -= combinationCount(written.matrix) - 1;
  if (context.budget.nodesLeft < 0) return broken(name, raw, context);
  const { combinations, problems, warnings } = expandMatrix(written.matrix, [...context.path, 'matrix']);
  context.problems.push(...problems);
  context.warnings.push(...warnings);
  if (problems.length > 0) return broken(name, raw, context);
  return { kind: 'job', name, path: context.path, written, combinations };
}

function readGate(name: string, raw: unknown, context: ReadContext): PlanEntry {
  // `approve:` with nothing behind it is the simplest gate.
  const written = parse(gateSchema, raw ?? {}, context);
  if (written === null) return broken(name, raw, context);
  return { kind: 'gate', name, path: context.path, written };
}

function broken(name: string, raw: unknown, { path }: ReadContext): BrokenEntry {
  const written = isMap(raw) && Array.isArray(raw.needs) ? raw.needs : [];
  // A list beyond the limit is refused already, and would only cost.
  const needs = needsSchema.safeParse(written.length <= planLimits.needsMax.value ? written : []);
  return { kind: 'broken', name, path, needs: needs.success ? needs.data : [] };
}

function parse<Schema extends z.ZodType>(schema: Schema, raw: unknown, context: ReadContext): z.output<Schema> | null {
  const { value: valuesMax } = planLimits.entryValuesMax;
  if (hasMoreValuesThan(valuesMax, raw)) {
    context.problems.push(problem('TooMany', context.path, `at most ${valuesMax} values belong here`));
    return null;
  }
  const parsed = schema.safeParse(raw, { reportInput: true });
  if (parsed.success) return parsed.data;
  const found = problemsOf(parsed.error.issues, { schema, base: context.path, nearest: context.nearest });
  for (const one of found) context.problems.push(one);
  return null;
}

/** Walks no further than it has to, and not into the jobs and gates that are counted on their own. */
function hasMoreValuesThan(valuesMax: number, raw: unknown): boolean {
  let valuesLeft = valuesMax;
  const waiting = [raw];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    const inner = Array.isArray(value) ? value : Object.values(value);
    valuesLeft -= inner.length;
    if (valuesLeft < 0) return true;
    for (const one of inner) waiting.push(one);
  }
  return false;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isName(name: string): boolean {
  return name.length <= planLimits.nameLengthMax.value && namePattern.test(name);
}
