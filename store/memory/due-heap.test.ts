import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDueHeap } from './due-heap.ts';

describe('due heap', () => {
  it('gives back what is current, earliest first, equal moments in the order they came', () => {
    const entries = fc.array(fc.record({ at: fc.nat({ max: 20 }), isCurrent: fc.boolean() }), { maxLength: 60 });
    fc.assert(
      fc.property(entries, (pushed) => {
        const heap = createDueHeap<(typeof pushed)[number]>(({ item }) => item.isCurrent);
        for (const item of pushed) heap.push(item.at, item);
        const popped: typeof pushed = [];
        for (let next = heap.pop(); next !== undefined; next = heap.pop()) popped.push(next.item);
        expect(popped).toEqual(pushed.filter(({ isCurrent }) => isCurrent).sort((a, b) => a.at - b.at));
      }),
    );
  });
});
