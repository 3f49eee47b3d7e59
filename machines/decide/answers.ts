/** Answers that change nothing. */
import type { RejectionCode } from '../model/codes.ts';
import type { Decision, Reply } from '../model/decision.ts';
import type { StepAnswer } from './job-move.ts';

export const reject = (code: RejectionCode, detail: string): Decision => ({
  outcome: 'rejected',
  code,
  detail,
  audit: null,
});

/** Turns a step that did not move into a decision. */
export function answerOf(answered: Exclude<StepAnswer, { kind: 'moved' }>, detail: string, reply: Reply): Decision {
  return answered.kind === 'no-op' ? { outcome: 'no-op', code: answered.code, reply } : reject(answered.code, detail);
}
