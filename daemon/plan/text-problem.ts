import type { PlanProblemCode } from '../../machines/plan/index.ts';

/** A problem of the text itself, known by where it stands. */
export interface TextProblem {
  readonly code: PlanProblemCode;
  readonly offset: number;
  readonly message: string;
  readonly hint: string | null;
}

export function textProblem(
  code: PlanProblemCode,
  offset: number,
  message: string,
  hint: string | null = null,
): TextProblem {
  return { code, offset, message, hint };
}
