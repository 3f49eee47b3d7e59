/** `store check`, and `store gc`: outputs nothing refers to, workspaces that were kept, old logs. */

import type { RunRow } from '../../../machines/index.ts';
import { isRunTerminal } from '../../../machines/index.ts';
import type { CollectedFolders } from '../../../runner/index.ts';
import type { Page, ScanItem, Store } from '../../../store/index.ts';
import type { RunSources } from '../../compose/index.ts';
import { createRunSources } from '../../compose/index.ts';
import { publicId, publicIdOrText } from '../../ids/index.ts';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodes } from '../exit-codes.ts';
import { emit } from '../output/emit.ts';
import { renderTable } from '../output/table.ts';
import type { Terminal } from '../terminal.ts';
import { withStore } from '../with-store.ts';

export async function storeCheck(terminal: Terminal): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store }) => {
    const { problems, runs, facts } = await store.check();
    await emit(terminal, {
      data: { ok: problems.length === 0, runs, facts, problems },
      table: () =>
        problems.length === 0
          ? `ok: ${runs} runs, ${facts} facts`
          : renderTable({
              head: ['CODE', 'ENTITY', 'PROBLEM'],
              rows: problems.map((problem) => [problem.code, problem.entity, problem.message]),
              paint: terminal.paint,
              widthMax: terminal.width,
            }),
    });
    if (problems.length === 0) return exitCodes.ok;
    terminal.note(
      `error: the store has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}; keep a copy of it before anything else`,
    );
    return exitCodes.trouble;
  });
}

export interface StoreGcOptions {
  readonly dryRun?: boolean;
  /** Outputs and kept workspaces, ms. */
  readonly olderThan: number;
  /** Logs of attempts, ms. */
  readonly logsOlderThan: number;
}

/** What is younger may belong to a completion that is on its way, or to an attempt that is only silent. */
const youngestMs = 60_000;

export async function storeGc(terminal: Terminal, options: StoreGcOptions): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store, places }) => {
    const runner = await import('../../../runner/index.ts');
    const dryRun = options.dryRun === true;
    const common = { now: Date.now, dryRun };
    const age = { olderThanMs: Math.max(options.olderThan, youngestMs) };
    const outputStore = runner.createOutputStore(places.outputs);
    const referenced = store.referencedDigests();
    const outputs = await runner.collectGarbage(outputStore, { ...common, ...age, referenced });
    const keep = await attemptsUnderWay(store);
    const workspaces = await runner.collectOldWorkspaces({ ...common, ...age, keep, stateDir: places.runner });
    const logAge = { olderThanMs: Math.max(options.logsOlderThan, youngestMs) };
    const logs = await runner.collectOldLogs({ ...common, ...logAge, keep, logDir: places.logs });
    const sources = await forgetSources(store, createRunSources(places.runner), {
      before: Date.now() - logAge.olderThanMs,
      dryRun,
    });
    await emit(terminal, {
      data: { dryRun, outputs, workspaces: shown(workspaces), logs: shown(logs), sources },
      table: () => {
        const verb = dryRun ? 'would remove' : 'removed';
        const line = (count: number, what: string, bytes: number, kept: number): string =>
          `${verb} ${count} ${what} (${bytes} bytes); kept ${kept}`;
        return [
          line(outputs.removed.length + outputs.temporary, 'outputs', outputs.bytes, outputs.kept),
          line(workspaces.removed.length, 'workspaces', workspaces.bytes, workspaces.kept),
          line(logs.removed.length, 'logs', logs.bytes, logs.kept),
          ...(sources.length === 0
            ? []
            : [`${verb} the notes where ${sources.length} ended runs had been started from`]),
        ].join('\n');
      },
    });
    const failed = [...workspaces.failed, ...logs.failed];
    for (const { attempt, message } of failed) terminal.note(`error: ${attempt} was left: ${message}`);
    return failed.length === 0 ? exitCodes.ok : exitCodes.trouble;
  });
}

const shown = ({ removed, bytes, kept, failed }: CollectedFolders) => ({
  removed: removed.map((attempt) => publicIdOrText('att', attempt)),
  bytes,
  kept,
  failed,
});

/**
 * Where ended runs were started from, kept as long as their logs: a retry goes back there. Runs this store does not
 * know may be those of another store.
 */
async function forgetSources(
  store: Store,
  sources: RunSources,
  { before, dryRun }: { readonly before: number; readonly dryRun: boolean },
): Promise<readonly string[]> {
  const old = new Set(sources.before(before));
  const ended: string[] = [];
  let cursor: string | null = null;
  while (ended.length < old.size) {
    const page: Page<RunRow> = await store.runs({}, { limit: 1_000, cursor });
    for (const run of page.items.filter((each) => old.has(each.id) && isRunTerminal(each.state))) {
      if (!dryRun) sources.forget(run.id);
      ended.push(publicId('run', run.id));
    }
    cursor = page.next;
    if (cursor === null) break;
  }
  return ended;
}

async function attemptsUnderWay(store: Store): Promise<ReadonlySet<string>> {
  const keep = new Set<string>();
  let cursor: string | null = null;
  do {
    const page: Page<ScanItem> = await store.scan({ kind: 'live-leases', cursor, limit: 1_000 });
    for (const runId of new Set(page.items.map((item) => item.runId))) {
      for (const lease of await store.leases(runId, { live: true })) keep.add(lease.attemptId);
    }
    cursor = page.next;
  } while (cursor !== null);
  return keep;
}
