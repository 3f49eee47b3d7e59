import type { IdKind } from '../../ids/index.ts';
import { printable } from '../output/printable.ts';
import { Refusal } from '../refusal.ts';

const shownMax = 10;

export function malformed(typed: string, kind: IdKind): Refusal {
  return new Refusal(`"${printable(typed.slice(0, 80))}" is no ${kind} id`, {
    why: `ids look like ${kind}_01hzx…; the beginning of one is enough`,
    todo: kind === 'run' ? ['forgeyard run list shows all runs', '@last is the newest run'] : nodeHint(kind),
  });
}

export function otherKind(typed: string, found: IdKind, expected: IdKind): Refusal {
  return new Refusal(`${printable(typed)} is the id of a ${found}, and a ${expected} is asked for here`, {
    todo: expected === 'run' ? 'forgeyard run list shows all runs' : nodeHint(expected),
  });
}

export function ambiguous(typed: string, what: string, candidates: readonly string[]): Refusal {
  const shown = candidates.slice(0, shownMax);
  const more = candidates.length > shownMax ? [`… and ${candidates.length - shownMax} more`] : [];
  return new Refusal(`"${printable(typed)}" is the beginning of ${candidates.length} ${what}`, {
    todo: ['one of these, or enough of its beginning:', ...[...shown, ...more].map((line) => `  ${printable(line)}`)],
  });
}

export const nodeHint = (kind: IdKind): readonly string[] => [
  `RUN/NAME, e.g. @last/${kind === 'gate' ? 'release' : 'build'}`,
  kind === 'gate' ? 'forgeyard gate list shows all gates' : 'forgeyard job list RUN shows the jobs of a run',
];
