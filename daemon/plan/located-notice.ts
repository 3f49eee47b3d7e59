/** Problems and warnings as a person meets them: with file, line and column. */
import type { PlanProblemCode, PlanWarningCode } from '../../machines/plan/index.ts';
import type { Position } from './locate.ts';
import { positionOf } from './locate.ts';

export interface LocatedNotice<Code extends string> extends Position {
  readonly file: string;
  readonly code: Code;
  readonly message: string;
  readonly hint: string | null;
}

export type LocatedProblem = LocatedNotice<PlanProblemCode>;
export type LocatedWarning = LocatedNotice<PlanWarningCode>;

interface Placed<Code extends string> {
  readonly code: Code;
  readonly offset: number;
  readonly message: string;
  readonly hint: string | null;
}

export function locator(file: string, starts: readonly number[]) {
  return <Code extends string>({ code, offset, message, hint }: Placed<Code>): LocatedNotice<Code> => ({
    file,
    ...positionOf(offset, starts),
    code,
    message,
    hint,
  });
}

/** About the file as a whole, which has no better place than its beginning. */
export function fileNotice(
  file: string,
  code: PlanProblemCode,
  message: string,
  hint: string | null = null,
): LocatedProblem {
  return { file, line: 1, column: 1, code, message, hint };
}

export function sorted<Notice extends Position>(notices: readonly Notice[]): readonly Notice[] {
  return [...notices].sort((a, b) => a.line - b.line || a.column - b.column);
}
