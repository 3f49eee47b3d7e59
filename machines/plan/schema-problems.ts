/** From what zod says to problems a person can act on: one code, one path, one sentence, one hint. */
import { z } from 'zod';
import type { Nearest } from './nearest.ts';
import { didYouMean } from './nearest.ts';
import type { DocumentPath, PlanProblem, PlanProblemCode } from './problem.ts';
import { planProblemCodes, problem } from './problem.ts';

type Issue = z.core.$ZodIssue;

interface Place {
  /** The schema of the value that `base` leads to; hints are found in it. */
  readonly schema: z.ZodType;
  readonly base: DocumentPath;
  readonly nearest: Nearest;
}

export function problemsOf(issues: readonly Issue[], place: Place): PlanProblem[] {
  return issues.flatMap((issue) => problemsOfIssue(issue, [], place));
}

function problemsOfIssue(issue: Issue, prefix: DocumentPath, place: Place): PlanProblem[] {
  const inner = [...prefix, ...issue.path.map(pathPart)];
  const path = [...place.base, ...inner];
  // Documents hold no undefined: where it stands, a key is missing.
  if (issue.input === undefined && missingCodes.has(issue.code)) return [missing(path)];
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownKeys(place.schema, inner);
      return issue.keys.map((key) =>
        problem(
          'UnknownKey',
          [...path, key],
          `unknown key "${shorten(key)}"`,
          keyHint(place.nearest(key, known), known),
        ),
      );
    }
    case 'invalid_union':
      return problemsOfUnion(issue, inner, place);
    case 'invalid_key':
      return issue.issues.slice(0, 1).map((nested) => keyProblem(nested, path));
    case 'custom':
      return [customProblem(issue, path)];
    case 'invalid_type':
      return [problem('WrongType', path, readable(issue.message))];
    case 'invalid_value':
      return [valueProblem(issue, path, place)];
    case 'too_big':
      return [sizeProblem(issue.origin, 'at most', issue.maximum, path)];
    case 'too_small':
      return [sizeProblem(issue.origin, 'at least', issue.minimum, path)];
    case 'invalid_format':
    case 'invalid_element':
    case 'not_multiple_of':
      return [problem('InvalidValue', path, readable(issue.message))];
  }
}

const missingCodes: ReadonlySet<Issue['code']> = new Set<Issue['code']>([
  'invalid_type',
  'invalid_union',
  'invalid_value',
]);

function missing(path: DocumentPath): PlanProblem {
  const key = path.at(-1);
  return problem('MissingKey', path, `the key "${String(key)}" is missing`);
}

function keyProblem(issue: Issue, path: DocumentPath): PlanProblem {
  return issue.code === 'custom' ? customProblem(issue, path) : problem('InvalidKey', path, issue.message);
}

function valueProblem(issue: z.core.$ZodIssueInvalidValue, path: DocumentPath, place: Place): PlanProblem {
  const allowed = issue.values.map(String);
  const nearest = typeof issue.input === 'string' ? place.nearest(issue.input, allowed) : null;
  return problem('InvalidValue', path, `expected ${allowed.join(', ')}`, didYouMean(nearest));
}

function customProblem(issue: z.core.$ZodIssueCustom, path: DocumentPath): PlanProblem {
  const code: unknown = issue.params?.problem;
  const hint: unknown = issue.params?.hint;
  return problem(
    isProblemCode(code) ? code : 'InvalidValue',
    path,
    issue.message,
    typeof hint === 'string' ? hint : null,
  );
}

function isProblemCode(code: unknown): code is PlanProblemCode {
  return typeof code === 'string' && Object.hasOwn(planProblemCodes, code);
}

function sizeProblem(origin: string, words: string, bound: number | bigint, path: DocumentPath): PlanProblem {
  if (origin === 'array') {
    return problem(words === 'at most' ? 'TooMany' : 'TooFew', path, `expected ${words} ${bound} entries`);
  }
  const unit = origin === 'string' ? ' characters' : '';
  return problem('ValueOutOfRange', path, `expected ${words} ${bound}${unit}`);
}

/** The branch that was meant is the one that got past the kind of the value. */
function problemsOfUnion(issue: z.core.$ZodIssueInvalidUnion, inner: DocumentPath, place: Place): PlanProblem[] {
  const meant = issue.errors.filter((branch) =>
    branch.every((nested) => nested.path.length > 0 || !isKindIssue(nested)),
  );
  const [branch] = meant;
  if (branch === undefined) return [problem('WrongType', [...place.base, ...inner], readable(issue.message))];
  return branch.flatMap((nested) => problemsOfIssue(nested, inner, place));
}

function isKindIssue(issue: Issue): boolean {
  if (issue.code === 'invalid_union') {
    return issue.errors.every((branch) => branch.some((nested) => nested.path.length === 0 && isKindIssue(nested)));
  }
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

function readable(message: string): string {
  const typed = /^Invalid input: expected (\w+), received/.exec(message)?.[1];
  if (typed === undefined) return message;
  return `expected ${kindWords[typed] ?? typed}`;
}

const kindWords: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

function pathPart(part: PropertyKey): string | number {
  return typeof part === 'symbol' ? String(part) : part;
}

function keyHint(nearest: string | null, known: readonly string[]): string | null {
  return didYouMean(nearest) ?? (known.length > 0 ? `known here: ${known.join(', ')}` : null);
}

function shorten(key: string): string {
  return key.length <= 60 ? key : `${key.slice(0, 60)}…`;
}

/** The keys the schema knows at the end of `path`. */
function knownKeys(schema: z.ZodType, path: DocumentPath): readonly string[] {
  let candidates = unwrap(schema);
  for (const part of path) candidates = candidates.flatMap((candidate) => step(candidate, part));
  return candidates.flatMap((candidate) => (candidate instanceof z.ZodObject ? Object.keys(candidate.shape) : []));
}

function step(schema: z.core.$ZodType, part: string | number): z.core.$ZodType[] {
  if (schema instanceof z.ZodObject) {
    const field: z.core.$ZodType | undefined = Object.hasOwn(schema.shape, part) ? schema.shape[part] : undefined;
    return field === undefined ? [] : unwrap(field);
  }
  if (schema instanceof z.ZodArray) return unwrap(schema.element);
  if (schema instanceof z.ZodRecord) return unwrap(schema.valueType);
  return [];
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodPipe) return unwrap(schema.in);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(unwrap);
  return [schema];
}
