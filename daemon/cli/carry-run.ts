/** Carries runs in this process until one of them has ended: behind `run start`, `run retry` and `run watch --resume`. */
import type { Runtime } from '../../actors/index.ts';
import type { RunAggregate, RunId } from '../../machines/index.ts';
import type { Host } from '../compose/index.ts';
import { liveSessions, loadHost, localActor } from '../compose/index.ts';
import { publicId } from '../ids/index.ts';
import { runView } from '../views/index.ts';
import type { ExitCode } from './exit-codes.ts';
import { exitCodeOfRun, exitCodes } from './exit-codes.ts';
import type { HostSettings } from './host-options.ts';
import { createDisplay } from './live/display.ts';
import { followRun } from './live/follow-run.ts';
import type { RunDisplay } from './live/run-display.ts';
import { createWaitNotes, keepLooking } from './live/wait-notes.ts';
import { emit } from './output/emit.ts';
import { runSummary } from './output/run-tables.ts';
import type { LeaveSignal } from './signals.ts';
import { leaveExitCode, watchSignals } from './signals.ts';
import type { Terminal } from './terminal.ts';
import { troubleText } from './trouble-text.ts';
import type { OpenedStore } from './with-store.ts';

export interface CarryOptions {
  readonly settings: HostSettings;
  /** Creates the run, or names one that is there. Called when the runtime has recovered. */
  readonly begin: (runtime: Runtime, display: RunDisplay) => Promise<RunId>;
}

/** After this long a silent wait is explained. */
const explainAfterMs = 1_000;
const repeatTroubleMs = 30_000;
/** How long attempts under way get to end and to be reported before the process leaves. */
const leaveGraceMs = 1_000;

export async function carryRun(terminal: Terminal, opened: OpenedStore, options: CarryOptions): Promise<ExitCode> {
  const display = await createDisplay(terminal);
  const host = await createHost(terminal, opened, options, display);
  const leaving = new AbortController();
  let left: LeaveSignal | null = null;
  let runId: RunId | null = null;
  let stopLooking = (): void => undefined;
  const unwatch = watchSignals(process, {
    onInterrupt() {
      if (runId === null) return leave('SIGINT');
      display.note('cancelling; Ctrl-C again leaves at once');
      host.runtime.runs.cancel(runId, { actor: localActor(), message: 'Ctrl-C' }).catch((error: unknown) => {
        display.note(`not cancelled: ${error instanceof Error ? error.message : String(error)}`);
      });
    },
    onLeave: leave,
  });
  function leave(signal: LeaveSignal): void {
    left ??= signal;
    leaving.abort();
  }
  try {
    await noteUnfinished(opened, display);
    await host.start();
    runId = await options.begin(host.runtime, display);
    terminal.progress(`carrying ${publicId('run', runId)}`);
    const stopProgress = host.runtime.feed.onProgress(display.progress);
    const waits = createWaitNotes({ sessions: () => liveSessions(opened.store), note: display.note });
    stopLooking = keepLooking(waits);
    const ended = await followRun({
      store: opened.store,
      runId,
      after: 0,
      onFacts(facts, aggregate) {
        display.show(facts, aggregate);
        waits.show(aggregate);
      },
      subscribe: host.runtime.feed.onFacts,
      signal: leaving.signal,
    });
    stopProgress();
    stopLooking();
    if (left !== null) return await goAway(host, display, { signal: left, runId });
    display.close();
    await drain(host, terminal);
    return await conclude(terminal, opened, ended);
  } catch (error) {
    await host.leave({ graceMs: leaveGraceMs }).catch(() => undefined);
    throw error;
  } finally {
    unwatch();
    stopLooking();
    display.close();
  }
}

async function createHost(
  terminal: Terminal,
  { places, store }: OpenedStore,
  { settings }: CarryOptions,
  display: RunDisplay,
): Promise<Host> {
  const { createHost: create } = await loadHost();
  return create({
    ...settings,
    places,
    store,
    env: terminal.env,
    onEvent(event) {
      if (event.kind === 'keeperFailed') display.note(`the runner has stopped, leave and resume: ${event.message}`);
      if (event.kind === 'diskShort') display.note(diskShortText(event.freeBytesMin));
      if (event.kind === 'diskRoomAgain') display.note('there is room on the disk again: the runner takes jobs');
      // Busy and Draining are how an agent says "later"; the others are worth a look.
      if (event.kind !== 'offerRefused' || event.reason === 'Busy' || event.reason === 'Draining') return;
      display.note(`the runner refused a job: ${event.reason}${event.message === null ? '' : `, ${event.message}`}`);
    },
    report: reporter(display),
  });
}

const diskShortText = (freeBytesMin: number): string =>
  `the disk is nearly full: the runner takes no jobs until ${Math.ceil(freeBytesMin / 1024 ** 2)} MiB are free`;

/** Loops try again and again: the same trouble is told once a while. */
function reporter(display: RunDisplay): (where: string, error: unknown) => void {
  const toldAt = new Map<string, number>();
  return (where, error) => {
    const text = troubleText(where, error);
    const now = Date.now();
    if (now - (toldAt.get(text) ?? 0) < repeatTroubleMs) return;
    toldAt.set(text, now);
    display.note(text);
  };
}

/** What an earlier process left is carried on by this one; that is said, because it uses the same slots. */
async function noteUnfinished({ store }: OpenedStore, display: RunDisplay): Promise<void> {
  const { items } = await store.runs({ states: ['Queued', 'Running', 'Cancelling'] }, { limit: 20, cursor: null });
  if (items.length === 0) return;
  const names = items.map((run) => `${publicId('run', run.id)} (${run.name}, ${run.state})`);
  display.note(`carrying on what is unfinished in this store: ${names.join(', ')}`);
}

async function goAway(
  host: Host,
  display: RunDisplay,
  { signal, runId }: { readonly signal: LeaveSignal; readonly runId: RunId },
): Promise<ExitCode> {
  display.close();
  await host.leave({ graceMs: leaveGraceMs });
  display.note(`left; the run is kept. To go on: forgeyard run watch --resume ${publicId('run', runId)}`);
  return leaveExitCode(signal);
}

/** Jobs of other runs that this agent has begun are finished; a second process may carry the rest. */
async function drain(host: Host, terminal: Terminal): Promise<void> {
  const timer = setTimeout(
    () => terminal.progress('the run has ended; waiting for jobs of other runs that were begun here'),
    explainAfterMs,
  );
  await host.drain();
  clearTimeout(timer);
}

async function conclude(terminal: Terminal, { store }: OpenedStore, ended: RunAggregate | null): Promise<ExitCode> {
  const loaded = ended === null ? null : await store.load(ended.run.id);
  if (loaded === null) return exitCodes.trouble;
  if (terminal.format !== 'jsonl') {
    const view = runView(loaded, store.now());
    await emit(terminal, { data: view, table: () => runSummary(view, terminal.paint) });
  }
  return exitCodeOfRun(loaded.run.state) ?? exitCodes.trouble;
}
