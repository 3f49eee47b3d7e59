/** The graph that creation and completion are measured on: chains, fan-out, fan-in and diamonds in equal parts. */
import { createHash } from 'node:crypto';
import type { Digest, ExecutablePlan } from '../machines/index.ts';
import type { BuiltNode } from '../machines/plan/index.ts';
import { job, planOf } from '../machines/plan/index.ts';

export const sha256 = (text: string): Digest => `sha256:${createHash('sha256').update(text).digest('hex')}` as Digest;

/** A plan of exactly `count` jobs, in blocks of 20: a chain of 5, a fan-out and fan-in over 9, two diamonds. */
export function graphOf(count: number): ExecutablePlan {
  const nodes: BuiltNode[] = [];
  for (let block = 0; nodes.length < count; block += 1) nodes.push(...blockOf(block).slice(0, count - nodes.length));
  return planOf({ project: 'bench', name: `graph-${count}` }, nodes, sha256);
}

function blockOf(block: number): readonly BuiltNode[] {
  const name = (part: string): string => `b${block}-${part}`;
  const after = (part: string, ...needs: string[]): BuiltNode => job(name(part), { needs: needs.map(name) });
  const spokes = ['s1', 's2', 's3', 's4', 's5', 's6', 's7'];
  return [
    job(name('c1')),
    after('c2', 'c1'),
    after('c3', 'c2'),
    after('c4', 'c3'),
    after('c5', 'c4'),
    job(name('hub')),
    ...spokes.map((spoke) => after(spoke, 'hub')),
    after('join', ...spokes),
    after('d1', 'join'),
    after('d2', 'join'),
    after('d3', 'd1', 'd2'),
    after('e1', 'd3'),
    after('e2', 'd3'),
    after('e3', 'e1', 'e2'),
  ];
}
