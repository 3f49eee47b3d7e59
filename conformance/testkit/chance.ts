/** Identities and chance that are the same in every run of a test. */
import type { Ids } from '../../actors/index.ts';

/** UUID-shaped and counted; `series` keeps the processes of one test apart. */
export function countedIds(series = 0): Ids {
  let count = 0;
  const head = `00000000-0000-7000-8${series.toString(16).padStart(3, '0')}`;
  return {
    uuid() {
      count += 1;
      return `${head}-${count.toString(16).padStart(12, '0')}`;
    },
  };
}

/** A seeded source in [0, 1) (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
