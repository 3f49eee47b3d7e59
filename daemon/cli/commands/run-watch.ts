/** `run watch`: follows a run another process carries, or carries it here (`--resume`). */
import type { RunRow } from '../../../machines/index.ts';
import { liveSessions } from '../../compose/index.ts';
import { publicId } from '../../ids/index.ts';
import { runView } from '../../views/index.ts';
import { carryRun } from '../carry-run.ts';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodeOfRun } from '../exit-codes.ts';
import { findRun } from '../find/index.ts';
import type { HostFlags } from '../host-options.ts';
import { hostSettings } from '../host-options.ts';
import { createDisplay } from '../live/display.ts';
import type { FollowOptions } from '../live/follow-run.ts';
import { followRun } from '../live/follow-run.ts';
import { createWaitNotes, keepLooking } from '../live/wait-notes.ts';
import { emit } from '../output/emit.ts';
import { runSummary } from '../output/run-tables.ts';
import type { LeaveSignal } from '../signals.ts';
import { leaveExitCode, watchSignals } from '../signals.ts';
import type { Terminal } from '../terminal.ts';
import type { OpenedStore } from '../with-store.ts';
import { withStore } from '../with-store.ts';

export interface RunWatchOptions extends HostFlags {
  readonly resume?: boolean;
}

export async function runWatch(terminal: Terminal, typed: string, options: RunWatchOptions): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async (opened) => {
    const run = await findRun(opened.store, typed);
    if (options.resume !== true || run.finishedAt !== null) return await watchOnly(terminal, opened, run);
    return await carryRun(terminal, opened, {
      settings: hostSettings(options),
      begin: async () => run.id,
    });
  });
}

async function watchOnly(terminal: Terminal, { store }: OpenedStore, run: RunRow): Promise<ExitCode> {
  const display = await createDisplay(terminal);
  const leaving = new AbortController();
  let left: LeaveSignal | null = null;
  const leave = (signal: LeaveSignal): void => {
    left ??= signal;
    leaving.abort();
  };
  // Watching is only looking: a signal ends the looking and nothing else.
  const unwatch = watchSignals(process, { onInterrupt: () => leave('SIGINT'), onLeave: leave });
  const waits = createWaitNotes({ sessions: () => liveSessions(store), note: display.note });
  const stopLooking = keepLooking(waits);
  try {
    const isCarried = (await liveSessions(store)).length > 0;
    if (!isCarried && run.finishedAt === null)
      display.note(`nobody carries this run; forgeyard run watch --resume ${publicId('run', run.id)} would`);
    const onFacts: FollowOptions['onFacts'] = (facts, aggregate) => {
      display.show(facts, aggregate);
      waits.show(aggregate);
    };
    await followRun({ store, runId: run.id, after: 0, onFacts, signal: leaving.signal });
  } finally {
    stopLooking();
    display.close();
    unwatch();
  }
  if (left !== null) return leaveExitCode(left);
  const loaded = await store.load(run.id);
  if (loaded === null) throw new Error(`the run ${run.id} has vanished`);
  if (terminal.format !== 'jsonl') {
    const view = runView(loaded, store.now());
    await emit(terminal, { data: view, table: () => runSummary(view, terminal.paint) });
  }
  return exitCodeOfRun(loaded.run.state) ?? 0;
}
