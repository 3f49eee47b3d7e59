/**
 * Eligible jobs in grant order, so that the next ones out of 100,000 are found without sorting: one sorted list per
 * distinct set of capabilities; a job that leaves is only marked, and marks are swept when they outnumber the rest.
 */
import type { JobId, RunId, Timestamp } from '../../machines/index.ts';

export interface QueueEntry {
  readonly runId: RunId;
  readonly jobId: JobId;
  readonly index: number;
  readonly priority: number;
  readonly eligibleAt: Timestamp;
  readonly capabilities: readonly string[];
}

interface Shelf {
  readonly capabilities: readonly string[];
  entries: Held[];
  /** Everything before it has left. */
  start: number;
  gone: number;
}
interface Held extends QueueEntry {
  left: boolean;
}

export interface EligibleQueue {
  add(entries: readonly QueueEntry[]): void;
  remove(jobId: JobId): void;
  /** The first `limit` whose capabilities all stand in `capabilities`. */
  first(query: { readonly capabilities: readonly string[]; readonly limit: number }): readonly QueueEntry[];
}

/** More entries at once are sorted in together instead of one by one. */
const bulkMin = 32;

export function createEligibleQueue(): EligibleQueue {
  const shelves = new Map<string, Shelf>();
  const byJob = new Map<JobId, { readonly shelf: Shelf; readonly held: Held }>();
  return {
    add(entries) {
      const bulk = new Set<Shelf>();
      for (const entry of entries) {
        const shelf = shelfFor(shelves, entry.capabilities);
        const held = { ...entry, left: false };
        byJob.set(entry.jobId, { shelf, held });
        if (entries.length < bulkMin) insert(shelf, held);
        else {
          shelf.entries.push(held);
          bulk.add(shelf);
        }
      }
      for (const shelf of bulk) {
        sweep(shelf);
        shelf.entries.sort(compareEntries);
      }
    },
    remove(jobId) {
      const found = byJob.get(jobId);
      if (found === undefined) return;
      byJob.delete(jobId);
      found.held.left = true;
      found.shelf.gone += 1;
      if (found.shelf.gone * 2 > found.shelf.entries.length + bulkMin) sweep(found.shelf);
    },
    first({ capabilities, limit }) {
      const offered = new Set(capabilities);
      const lists = [...shelves.values()]
        .filter((shelf) => shelf.capabilities.every((each) => offered.has(each)))
        .map((shelf) => head(shelf, limit));
      return lists.flat().sort(compareEntries).slice(0, limit);
    },
  };
}

/** Highest priority, then oldest; the rest only makes the order total. */
function compareEntries(a: QueueEntry, b: QueueEntry): number {
  return (
    b.priority - a.priority ||
    a.eligibleAt - b.eligibleAt ||
    (a.runId < b.runId ? -1 : a.runId > b.runId ? 1 : a.index - b.index)
  );
}

function shelfFor(shelves: Map<string, Shelf>, capabilities: readonly string[]): Shelf {
  const key = JSON.stringify([...capabilities].sort());
  const found = shelves.get(key);
  if (found !== undefined) return found;
  const shelf: Shelf = { capabilities: [...capabilities], entries: [], start: 0, gone: 0 };
  shelves.set(key, shelf);
  return shelf;
}

function insert({ entries, start }: Shelf, held: Held): void {
  let low = start;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = entries[middle];
    if (other !== undefined && compareEntries(other, held) <= 0) low = middle + 1;
    else high = middle;
  }
  entries.splice(low, 0, held);
}

function sweep(shelf: Shelf): void {
  shelf.entries = shelf.entries.filter((held) => !held.left);
  shelf.start = 0;
  shelf.gone = 0;
}

function head(shelf: Shelf, limit: number): readonly Held[] {
  while (shelf.entries[shelf.start]?.left === true) shelf.start += 1;
  const found: Held[] = [];
  for (let place = shelf.start; place < shelf.entries.length && found.length < limit; place += 1) {
    const held = shelf.entries[place];
    if (held !== undefined && !held.left) found.push(held);
  }
  return found;
}
