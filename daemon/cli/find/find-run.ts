/** From what a person typed to the run it names. */
import type { RunRow } from '../../../machines/index.ts';
import type { Store } from '../../../store/index.ts';
import { parseId, publicId } from '../../ids/index.ts';
import { Refusal } from '../refusal.ts';
import { ambiguous, malformed, otherKind } from './id-problems.ts';

export const lastMark = '@last';
/** More candidates than this are too many to be told apart by reading. */
const candidatesMax = 200;

export async function findRun(store: Store, typed: string): Promise<RunRow> {
  if (typed === lastMark) return await lastRun(store);
  if (typed.startsWith('@')) throw new Refusal(`"${typed}" names no run`, { todo: `${lastMark} is the newest run` });
  const parsed = parseId(typed, 'run');
  if (parsed.kind === 'malformed') throw malformed(typed, 'run');
  if (parsed.kind === 'other-kind') throw otherKind(typed, parsed.found, 'run');
  const { uuidPrefix, matches } = parsed.prefix;
  const { items } = await store.runs({ idPrefix: uuidPrefix }, { limit: candidatesMax, cursor: null });
  const [found, ...others] = items.filter((run) => matches(run.id));
  if (found === undefined) {
    throw new Refusal(`there is no run ${typed} in this store`, {
      todo: ['forgeyard run list shows all runs', '--store names another store'],
    });
  }
  if (others.length === 0) return found;
  throw ambiguous(
    typed,
    'runs',
    [found, ...others].map((run) => `${publicId('run', run.id)}  ${run.state}  ${run.project}/${run.name}`),
  );
}

async function lastRun(store: Store): Promise<RunRow> {
  const { items } = await store.runs({}, { limit: 1, cursor: null });
  const [newest] = items;
  if (newest === undefined) {
    throw new Refusal('there is no run in this store yet', { todo: 'forgeyard run start PLAN starts one' });
  }
  return newest;
}
