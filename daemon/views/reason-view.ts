/** A reason as data for others: the code decides, the sentence is for people. */
import type { Reason, ReasonCode } from '../../machines/index.ts';

export interface ReasonView {
  readonly code: ReasonCode;
  /** The job or gate that is the cause. */
  readonly root: string | null;
  readonly message: string | null;
}

export const reasonView = (reason: Reason | null): ReasonView | null =>
  reason === null ? null : { code: reason.code, root: reason.root ?? null, message: reason.message ?? null };

export function reasonText(reason: Reason | ReasonView | null): string {
  if (reason === null) return '';
  const root = reason.root ? ` (${reason.root})` : '';
  return `${reason.code}${root}${reason.message ? `: ${reason.message}` : ''}`;
}
