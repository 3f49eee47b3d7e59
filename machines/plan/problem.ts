/**
 * What is wrong with a plan. Problems are values, all of them are reported at once, and each has a
 * code from one closed list; `path` leads to the place in the document (keys and indices).
 */
export const planProblemCodes = {
  // The file.
  FileUnreadable: 'The file cannot be read.',
  FileTooLarge: 'The file is larger than a plan may be.',
  NotUtf8: 'The file is not UTF-8 text.',
  // The text.
  SyntaxError: 'The text is not well-formed YAML or JSON.',
  SeveralDocuments: 'A plan is one document.',
  DuplicateKey: 'A key stands twice in one map.',
  InvalidKey: 'A key is not plain text.',
  ForbiddenKey: 'A key has a meaning of its own inside the language of this program.',
  MergeKey: 'Merging maps with `<<` is not supported.',
  UnsupportedTag: 'Tags and directives are not supported.',
  UnknownAlias: 'An alias names no anchor before it, or one that contains it.',
  TooManyAliases: 'The file has, or expands to, more than a plan may.',
  TooDeep: 'The document is nested too deeply.',
  AmbiguousNumber: 'A number would be read differently from how it is written.',
  ForbiddenCharacter: 'A text contains a character that no plan may contain.',
  // The shape.
  UnknownKey: 'A key that a plan does not have here.',
  MissingKey: 'A key that a plan must have here.',
  WrongType: 'A value of another kind is expected.',
  InvalidValue: 'The value is not one of those allowed.',
  ValueOutOfRange: 'The value is outside its bounds.',
  TooMany: 'A list or map has more entries than allowed.',
  TooFew: 'A list or map has fewer entries than needed.',
  Contradiction: 'Two entries exclude each other.',
  // The meaning.
  ReservedName: 'The name is set by the runner and cannot be chosen.',
  SecretLiteral: 'A secret must be a reference, never the value itself.',
  UnsafePath: 'The path leaves the workspace.',
  RetryNotAllowed: 'Failures of this class are not retried by choice.',
  NoJobs: 'A plan has at least one job.',
  DuplicateName: 'Two jobs or gates have the same name.',
  DuplicateNeed: 'The same job or gate is needed twice by one node.',
  UnknownName: 'No job or gate has this name.',
  WrongKind: 'The name belongs to a gate where a job is meant, or the other way round.',
  SelfNeed: 'A job or gate needs itself.',
  Cycle: 'Jobs or gates need each other in a circle.',
  NotUpstream: 'Outputs can be taken only from jobs that have ended before.',
  EmptyMatrix: 'A matrix without a single combination.',
  GraphTooLarge: 'The graph has more nodes or edges than a run may have.',
  SpecTooLarge: 'The job is larger than a message to a runner.',
  TooManyProblems: 'There are more problems than are shown.',
} as const satisfies Readonly<Record<string, string>>;

export type PlanProblemCode = keyof typeof planProblemCodes;

export const planWarningCodes = {
  GateMayWaitForever: 'Nothing ends the wait for this gate but a person.',
  GateAsksForNothing: 'A person may be asked although the job behind the gate will be skipped.',
  ExcludeMatchesNothing: 'An exclusion removes no combination.',
} as const satisfies Readonly<Record<string, string>>;

export type PlanWarningCode = keyof typeof planWarningCodes;
export type DocumentPath = readonly (string | number)[];

export interface PlanNotice<Code extends string> {
  readonly code: Code;
  readonly path: DocumentPath;
  readonly message: string;
  readonly hint: string | null;
}

export type PlanProblem = PlanNotice<PlanProblemCode>;
export type PlanWarning = PlanNotice<PlanWarningCode>;

export function problem(
  code: PlanProblemCode,
  path: DocumentPath,
  message: string,
  hint: string | null = null,
): PlanProblem {
  return { code, path, message, hint };
}

export function warning(
  code: PlanWarningCode,
  path: DocumentPath,
  message: string,
  hint: string | null = null,
): PlanWarning {
  return { code, path, message, hint };
}
