/** From a path in the document to a place in the text. */
import { isMap, isSeq } from 'yaml';
import type { DocumentPath, PlanProblemCode, PlanWarningCode } from '../../machines/plan/index.ts';
import { keyOf, offsetOf } from './document-value.ts';

export interface Position {
  /** Both count from 1; columns in UTF-16 units, as editors do. */
  readonly line: number;
  readonly column: number;
}

const aboutTheKey: ReadonlySet<string> = new Set<PlanProblemCode | PlanWarningCode>([
  'UnknownKey',
  'InvalidKey',
  'ReservedName',
  'DuplicateName',
  'Contradiction',
]);

export interface PathContext {
  /** What each alias stands for. */
  readonly targets: ReadonlyMap<unknown, unknown>;
  readonly code: string;
}

/** The offset of what the path leads to, or of the last part of the way that exists. */
export function offsetOfPath(root: unknown, path: DocumentPath, { targets, code }: PathContext): number {
  let node = targets.get(root) ?? root;
  let offset = offsetOf(node);
  for (const [depth, part] of path.entries()) {
    if (isSeq(node) && typeof part === 'number' && node.items[part] !== undefined) {
      const item: unknown = node.items[part];
      offset = offsetOf(item);
      node = targets.get(item) ?? item;
      continue;
    }
    const pair = isMap(node) ? node.items.find(({ key }) => keyOf(key) === part) : undefined;
    if (pair === undefined) return offset;
    const isLast = depth === path.length - 1;
    const inner = targets.get(pair.value) ?? pair.value;
    const isBlock = isMap(inner) || isSeq(inner) || pair.value === null;
    offset = isBlock || (isLast && aboutTheKey.has(code)) ? offsetOf(pair.key) : offsetOf(pair.value);
    node = inner;
  }
  return offset;
}

/** Offsets at which lines begin, for `positionOf`. */
export function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}

export function positionOf(offset: number, starts: readonly number[]): Position {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
}
