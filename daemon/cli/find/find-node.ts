/** From what a person typed to the job or gate it names: `RUN/NAME`, an id, or the beginning of one. */
import type { GateRow, JobRow, NodeRow } from '../../../machines/index.ts';
import type { LoadedRun, Store } from '../../../store/index.ts';
import type { IdPrefix } from '../../ids/index.ts';
import { parseId, publicId } from '../../ids/index.ts';
import { printable } from '../output/printable.ts';
import { Refusal } from '../refusal.ts';
import { findRun, lastMark } from './find-run.ts';
import { ambiguous, malformed, nodeHint, otherKind } from './id-problems.ts';

export interface FoundNode<Row extends NodeRow> {
  readonly run: LoadedRun;
  readonly row: Row;
}

const candidatesMax = 200;

export async function findJob(store: Store, typed: string): Promise<FoundNode<JobRow>> {
  const query = async (idPrefix: string) => await store.findJobs({ idPrefix, limit: candidatesMax });
  return await findNode(store, typed, { kind: 'job', query, isWanted: (row) => row.kind === 'job' });
}

export async function findGate(store: Store, typed: string): Promise<FoundNode<GateRow>> {
  const query = async (idPrefix: string) => await store.findGates({ idPrefix, limit: candidatesMax });
  return await findNode(store, typed, { kind: 'gate', query, isWanted: (row) => row.kind === 'gate' });
}

interface NodeKind<Row extends NodeRow> {
  readonly kind: 'job' | 'gate';
  readonly query: (idPrefix: string) => Promise<readonly Row[]>;
  readonly isWanted: (row: NodeRow) => row is Row;
}

async function findNode<Row extends NodeRow>(
  store: Store,
  typed: string,
  wanted: NodeKind<Row>,
): Promise<FoundNode<Row>> {
  const slash = typed.indexOf('/');
  if (slash > 0) return await findByName(store, { run: typed.slice(0, slash), name: typed.slice(slash + 1) }, wanted);
  const parsed = parseId(typed, wanted.kind);
  if (typed.startsWith(lastMark) || parsed.kind === 'malformed') throw malformed(typed, wanted.kind);
  if (parsed.kind === 'other-kind') throw otherKind(typed, parsed.found, wanted.kind);
  const row = await onlyOne(typed, parsed.prefix, wanted);
  return { run: await loaded(store, row), row };
}

async function onlyOne<Row extends NodeRow>(typed: string, prefix: IdPrefix, wanted: NodeKind<Row>): Promise<Row> {
  const rows = (await wanted.query(prefix.uuidPrefix)).filter((row) => prefix.matches(row.id));
  const [row, ...others] = rows;
  if (row === undefined) {
    throw new Refusal(`there is no ${wanted.kind} ${printable(typed)} in this store`, { todo: nodeHint(wanted.kind) });
  }
  if (others.length === 0) return row;
  throw ambiguous(
    typed,
    `${wanted.kind}s`,
    rows.map((each) => `${publicId(wanted.kind, each.id)}  ${each.state}  ${each.node}`),
  );
}

async function findByName<Row extends NodeRow>(
  store: Store,
  typed: { readonly run: string; readonly name: string },
  { kind, isWanted }: NodeKind<Row>,
): Promise<FoundNode<Row>> {
  const run = await loaded(store, { runId: (await findRun(store, typed.run)).id });
  const named = run.nodes.find((row) => row.node === typed.name);
  if (named !== undefined && isWanted(named)) return { run, row: named };
  if (named !== undefined) {
    throw new Refusal(`${printable(typed.name)} is a ${named.kind} of this run, and a ${kind} is asked for here`, {
      todo: `the command forgeyard ${named.kind}`,
    });
  }
  const rows = run.nodes.filter(isWanted);
  const children = rows.filter((row) => row.kind === 'job' && row.matrixGroup === typed.name);
  if (children.length > 0) {
    throw ambiguous(
      typed.name,
      'jobs of one matrix',
      children.map((row) => `${typed.run}/${row.node}`),
    );
  }
  throw new Refusal(`this run has no ${kind} called "${printable(typed.name.slice(0, 256))}"`, {
    why: rows.length === 0 ? `it has no ${kind}s at all` : `it has ${namesOf(rows)}`,
    todo: kind === 'job' ? `forgeyard job list ${typed.run}` : `forgeyard gate list ${typed.run}`,
  });
}

function namesOf(rows: readonly NodeRow[]): string {
  const shown = rows.slice(0, 8).map((row) => printable(row.node));
  return rows.length > shown.length ? `${shown.join(', ')} and ${rows.length - shown.length} more` : shown.join(', ');
}

async function loaded(store: Store, { runId }: Pick<NodeRow, 'runId'>): Promise<LoadedRun> {
  const run = await store.load(runId);
  if (run === null) throw new Refusal(`the run ${publicId('run', runId)} is gone`);
  return run;
}
