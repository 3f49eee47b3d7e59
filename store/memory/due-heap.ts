/** A binary heap of moments with lazy deletion: an entry whose stamp is no longer its owner's is skipped and dropped. */
export interface DueEntry<T> {
  readonly at: number;
  /** Ties are taken in the order of insertion. */
  readonly order: number;
  readonly item: T;
}

export interface DueHeap<T> {
  push(at: number, item: T): void;
  /** The earliest entry that is still current, without removing it. */
  peek(): DueEntry<T> | undefined;
  pop(): DueEntry<T> | undefined;
}

/** `isCurrent` tells whether an entry still speaks for its item; an item has at most one current entry. */
export function createDueHeap<T>(isCurrent: (entry: DueEntry<T>) => boolean): DueHeap<T> {
  const heap: DueEntry<T>[] = [];
  let order = 0;
  const removeTop = () => {
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) sink(heap, last);
  };
  const peek = () => {
    for (let top = heap[0]; top !== undefined; top = heap[0]) {
      if (isCurrent(top)) return top;
      removeTop();
    }
    return undefined;
  };
  return {
    push(at, item) {
      order += 1;
      rise(heap, { at, order, item });
    },
    peek,
    pop() {
      const top = peek();
      if (top !== undefined) removeTop();
      return top;
    },
  };
}

function isBefore<T>(a: DueEntry<T>, b: DueEntry<T>): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function rise<T>(heap: DueEntry<T>[], entry: DueEntry<T>): void {
  let place = heap.length;
  heap.push(entry);
  while (place > 0) {
    const above = (place - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !isBefore(entry, parent)) break;
    heap[place] = parent;
    place = above;
  }
  heap[place] = entry;
}

function sink<T>(heap: DueEntry<T>[], entry: DueEntry<T>): void {
  let place = 0;
  for (;;) {
    const left = heap[2 * place + 1];
    if (left === undefined) break;
    const right = heap[2 * place + 2];
    const takesRight = right !== undefined && isBefore(right, left);
    const child = takesRight ? right : left;
    if (!isBefore(child, entry)) break;
    heap[place] = child;
    place = 2 * place + (takesRight ? 2 : 1);
  }
  heap[place] = entry;
}
