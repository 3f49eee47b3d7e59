/** Rows, facts and timers as short lines that a person reads from top to bottom. */
import type { Fact, LeaseRow, NodeRow, Reason, Reply, TimerChanges } from '../../machines/index.ts';
import type { EngineAnswer, EngineRows } from './engine.ts';

export function answerLines(rows: EngineRows, answer: EngineAnswer, now: number): readonly string[] {
  return [
    [answer.answer, replyText(answer.reply, now)].filter(Boolean).join(', '),
    ...answer.facts.map((fact) => `  ${factLine(rows, fact)}`),
    ...(answer.timers === null ? [] : timerLines(rows, answer.timers, now)),
  ];
}

function replyText(reply: Reply | null, now: number): string {
  if (reply === null) return '';
  switch (reply.kind) {
    case 'none':
      return '';
    case 'run':
    case 'job':
      return `${reply.kind} ${reply.state}${reply.intent === null ? '' : ` to end as ${reply.intent}`}`;
    case 'gate':
      return `gate ${reply.state}`;
    case 'directive': {
      const { directive } = reply;
      if (directive.kind === 'stale') return 'told: stale';
      const until = `lease ends ${span(directive.expiresAt - now)}`;
      return directive.kind === 'continue'
        ? `told: continue, ${until}`
        : `told: cancel (${directive.intent.reason}), ${until}`;
    }
  }
}

const span = (ms: number): string => `in ${ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`}`;

const reasonText = ({ code, root, message }: Reason): string =>
  [code, root === undefined ? '' : `of ${root}`, message === undefined ? '' : `"${message}"`].filter(Boolean).join(' ');

function factLine(rows: EngineRows, fact: Fact): string {
  const move = fact.from === null || fact.from === fact.to ? fact.to : `${fact.from} -> ${fact.to}`;
  return `${fact.type} ${nameOf(rows, fact)}: ${move} (${reasonText(fact.reason)})`;
}

function nameOf(rows: EngineRows, fact: Fact): string {
  switch (fact.entity) {
    case 'run':
      return 'run';
    case 'job':
    case 'gate':
      return nodeName(rows, fact.index);
    case 'attempt':
      return `${nodeName(rows, fact.index)}#${rows.attempts.get(fact.id)?.number}`;
    case 'lease':
      return `${nodeName(rows, fact.index)}#${rows.leases.get(fact.id)?.epoch}`;
  }
}

const nodeName = (rows: EngineRows, index: number): string => rows.nodes[index]?.node ?? `node ${index}`;

function timerLines(rows: EngineRows, timers: TimerChanges, now: number): readonly string[] {
  return [
    ...timers.set.map(({ key, kind, dueAt }) => `  + ${kind} of ${ownerOf(rows, key)} ${span(dueAt - now)}`),
    ...timers.cancel.map((key) => `  - ${key.split('/')[0]} of ${ownerOf(rows, key)}`),
  ];
}

/** Whose timer it is: keys are `kind/id`. */
function ownerOf(rows: EngineRows, key: string): string {
  const id = key.split('/')[1];
  const node = rows.nodes.find((row) => row.id === id);
  if (node !== undefined) return node.node;
  for (const row of [...rows.attempts.values(), ...rows.leases.values()]) {
    if (row.id === id) return `${nodeName(rows, row.jobIndex)}#${row.epoch}`;
  }
  return 'run';
}

/** Every row of the run, shortly. */
export function stateLines(rows: EngineRows): readonly string[] {
  const { run } = rows;
  return [
    `run ${run.state}${run.reason === null ? '' : ` (${reasonText(run.reason)})`}`,
    ...rows.nodes.map((row) => `  ${row.node}: ${nodeText(row)}`),
    ...[...rows.attempts.values()].map((row) => {
      const lease = rows.leases.get(row.leaseId);
      const late = row.lateResult ? ', a late result was refused' : '';
      return `  ${nodeName(rows, row.jobIndex)}#${row.number}: ${row.state} on ${row.session}, lease ${leaseText(lease)}${late}`;
    }),
  ];
}

const leaseText = (lease: LeaseRow | undefined): string => lease?.state ?? 'missing';

function nodeText(row: NodeRow): string {
  const reason = row.reason === null ? '' : ` (${reasonText(row.reason)})`;
  if (row.kind === 'gate') return `gate ${row.state}${row.decidedBy === null ? '' : ` by ${row.decidedBy}`}${reason}`;
  const intent = row.intent === null ? '' : `, to end as ${row.intent.kind}`;
  const spent = row.workloadFailures + row.infrastructureFailures;
  const budgets =
    spent === 0 ? '' : `, failures: work ${row.workloadFailures}, machinery ${row.infrastructureFailures}`;
  return `${row.state}${intent}${reason}${budgets}`;
}
