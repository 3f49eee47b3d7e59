/**
 * From the tree to plain values. Aliases share the value of their anchor, and what they would expand to
 * is counted, so that a small file cannot become a large one. Keys that mean something to JavaScript,
 * keys written twice and numbers that would be read differently are refused.
 */

import type { Alias, ParsedNode, YAMLMap, YAMLSeq } from 'yaml';
import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import { planLimits } from '../../machines/plan/index.ts';
import type { TextProblem } from './text-problem.ts';
import { textProblem } from './text-problem.ts';

export interface DocumentValue {
  readonly value: unknown;
  /** What each alias stands for; positions inside lead there. */
  readonly targets: ReadonlyMap<unknown, unknown>;
  readonly problems: readonly TextProblem[];
  /** True when the document may not be looked at any further. */
  readonly isBomb: boolean;
}

interface Converted {
  readonly value: unknown;
  /** Values below it, with every alias counted as what it stands for. */
  readonly size: number;
  readonly depth: number;
}

const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export function documentValue(root: ParsedNode | null): DocumentValue {
  const problems: TextProblem[] = [];
  const anchors = new Map<string, unknown>();
  const converted = new Map<unknown, Converted>();
  const targets = new Map<unknown, unknown>();
  let aliases = 0;
  let bomb: TextProblem | null = null;

  function convert(node: unknown): Converted {
    const offset = offsetOf(node);
    if (isAlias(node)) return convertAlias(node, offset);
    if ((isMap(node) || isSeq(node) || isScalar(node)) && node.anchor !== undefined) anchors.set(node.anchor, node);
    const result = isMap(node) ? convertMap(node) : isSeq(node) ? convertSeq(node) : convertScalar(node, offset);
    converted.set(node, result);
    if (result.size > planLimits.valuesMax.value) {
      bomb ??= textProblem(
        'TooManyAliases',
        offset,
        `its aliases expand to more than ${planLimits.valuesMax.value} values`,
      );
    }
    if (result.depth > planLimits.nestingMax.value) {
      bomb ??= textProblem('TooDeep', offset, `more than ${planLimits.nestingMax.value} levels`);
    }
    return result;
  }

  function convertAlias(alias: Alias, offset: number): Converted {
    aliases += 1;
    if (aliases > planLimits.aliasesMax.value) {
      bomb ??= textProblem('TooManyAliases', offset, `more than ${planLimits.aliasesMax.value} aliases`);
    }
    const target = anchors.get(alias.source);
    const known = converted.get(target);
    if (target === undefined || known === undefined) {
      const message =
        target === undefined ? `there is no anchor "${alias.source}" before it` : `"${alias.source}" contains itself`;
      problems.push(textProblem('UnknownAlias', offset, message));
      return { value: null, size: 1, depth: 1 };
    }
    targets.set(alias, target);
    return known;
  }

  function convertMap(map: YAMLMap): Converted {
    const entries = new Map<string, unknown>();
    let size = 1;
    let depth = 0;
    for (const { key, value } of map.items) {
      const name = keyOf(key);
      const inner = convert(value);
      size = Math.min(size + inner.size, Number.MAX_SAFE_INTEGER);
      depth = Math.max(depth, inner.depth);
      const refusal = keyRefusal(key, name, entries);
      if (refusal !== null) problems.push(refusal);
      else if (name !== null) entries.set(name, inner.value);
    }
    return { value: Object.fromEntries(entries), size, depth: depth + 1 };
  }

  function convertSeq(seq: YAMLSeq): Converted {
    const values: unknown[] = [];
    let size = 1;
    let depth = 0;
    for (const item of seq.items) {
      const inner = convert(item);
      values.push(inner.value);
      size = Math.min(size + inner.size, Number.MAX_SAFE_INTEGER);
      depth = Math.max(depth, inner.depth);
    }
    return { value: values, size, depth: depth + 1 };
  }

  function convertScalar(node: unknown, offset: number): Converted {
    const value: unknown = isScalar(node) ? node.value : null;
    if (isScalar(node) && typeof value === 'number' && String(value) !== node.source) {
      const hint = 'write it in quotes, or as a plain decimal number';
      problems.push(textProblem('AmbiguousNumber', offset, `"${node.source}" would be read as ${value}`, hint));
    }
    if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
      problems.push(textProblem('ForbiddenCharacter', offset, 'the text contains a NUL or half a surrogate pair'));
    }
    return { value, size: 1, depth: 1 };
  }

  const { value } = convert(root);
  if (bomb !== null) problems.push(bomb);
  return { value, targets, problems, isBomb: bomb !== null };
}

function keyRefusal(key: unknown, name: string | null, entries: ReadonlyMap<string, unknown>): TextProblem | null {
  const offset = offsetOf(key);
  if (name === null) return textProblem('InvalidKey', offset, 'a key must be plain text', 'write it in quotes');
  if (forbiddenKeys.has(name)) return textProblem('ForbiddenKey', offset, `"${name}" cannot be a key`);
  if (name === '<<')
    return textProblem('MergeKey', offset, 'maps are not merged with "<<"', 'repeat the keys, or use defaults');
  if (entries.has(name))
    return textProblem('DuplicateKey', offset, `the key "${name.slice(0, 100)}" stands here twice`);
  return null;
}

export function keyOf(key: unknown): string | null {
  return isScalar(key) && typeof key.value === 'string' && key.anchor === undefined ? key.value : null;
}

export function offsetOf(node: unknown): number {
  if (!isAlias(node) && !isMap(node) && !isSeq(node) && !isScalar(node)) return 0;
  return node.range?.[0] ?? 0;
}
