/** What is allowed, and yet probably not meant. */
import type { GateEntry, PlanDocument } from './document.ts';
import type { EntryNeeds, ResolvedNeed } from './needs.ts';
import type { PlanWarning } from './problem.ts';
import { warning } from './problem.ts';

export function gateWarnings(document: PlanDocument, needs: EntryNeeds): PlanWarning[] {
  const waiting = document.header?.deadline === undefined ? document.entries.flatMap(waitsForever) : [];
  return [...waiting, ...document.entries.flatMap((_, index) => asksForNothing(index, document, needs))];
}

function waitsForever(entry: PlanDocument['entries'][number]): PlanWarning[] {
  if (entry.kind !== 'gate' || entry.written.expiry !== undefined) return [];
  const hint = 'give the gate an expiry, or the run a deadline';
  return [
    warning(
      'GateMayWaitForever',
      entry.path,
      `nothing but a decision ends the wait for the gate "${entry.name}"`,
      hint,
    ),
  ];
}

/** A job that may be skipped for the end of another job should not be waiting for a person meanwhile. */
function asksForNothing(index: number, { entries }: PlanDocument, needs: EntryNeeds): PlanWarning[] {
  const own = needs[index] ?? [];
  if (entries[index]?.kind !== 'job') return [];
  const telling = own.filter((need) => need.required && need.condition !== 'success' && need.condition !== 'always');
  if (telling.length === 0) return [];
  return own.flatMap((need) => {
    const gate = entries[need.entry];
    if (gate?.kind !== 'gate') return [];
    const ofGate = needs[need.entry] ?? [];
    const lacking = telling.filter((one) => one.entry !== need.entry && !ofGate.some((other) => isSame(one, other)));
    return lacking.slice(0, 1).map((one) => missingNeed(gate, entries[one.entry]?.name ?? '', one));
  });
}

function missingNeed(gate: GateEntry, upstream: string, need: ResolvedNeed): PlanWarning {
  const message = `the gate "${gate.name}" may ask for a decision although "${upstream}" has ruled out what stands behind it`;
  return warning(
    'GateAsksForNothing',
    need.path,
    message,
    `give the gate the same need (${need.condition} of "${upstream}")`,
  );
}

function isSame(one: ResolvedNeed, other: ResolvedNeed): boolean {
  return one.first === other.first && one.count === other.count && one.condition === other.condition;
}
