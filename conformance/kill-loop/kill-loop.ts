/**
 * Kills real processes that write to a store, again and again, and opens what they leave behind (000 §340). Lanes work
 * side by side, each on files of its own; a file serves several kills, so that later workers find what earlier ones left.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openSqliteStore } from '../../store/index.ts';
import { seededRandom } from '../testkit/chance.ts';
import type { Acknowledgement } from './acknowledgements.ts';
import { verifyStore } from './verify.ts';
import type { KillMoment } from './victim.ts';
import { runVictim } from './victim.ts';

export interface KillLoopOptions {
  readonly kills: number;
  readonly seed: number;
  /** Module of the process to kill; gets the file as its argument and prints acknowledgements. */
  readonly worker?: URL;
  /** Called with one sentence for each thing that is wrong. */
  readonly report?: (problem: string) => void;
}

export interface KillLoopTally {
  readonly kills: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly twice: number;
  readonly integrityFailures: number;
  readonly seed: number;
}

export const standardWorker = new URL('worker.ts', import.meta.url);
const lanes = 2;
const killsPerFile = 10;

export async function runKillLoop(options: KillLoopOptions): Promise<KillLoopTally> {
  const directory = await mkdtemp(path.join(tmpdir(), 'forgeyard-kill-loop-'));
  try {
    const shares = Array.from({ length: lanes }, (_, lane) => Math.floor((options.kills + lane) / lanes));
    // Every lane ends before the files go, also when one of them fails.
    const ends = await Promise.allSettled(
      shares.map((kills, lane) => runLane({ ...options, kills }, path.join(directory, `lane-${lane}`), lane)),
    );
    const tallies = ends.map((end) => {
      if (end.status === 'rejected') throw end.reason;
      return end.value;
    });
    return { ...sum(tallies), seed: options.seed };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Something was lost, done twice or damaged, or there was too little traffic to tell. */
export function fallsShort(tally: KillLoopTally, kills: number): boolean {
  const { lost, twice, integrityFailures, acknowledged } = tally;
  return tally.kills < kills || lost > 0 || twice > 0 || integrityFailures > 0 || acknowledged < kills;
}

type Counts = Omit<KillLoopTally, 'seed'>;

function sum(tallies: readonly Counts[]): Counts {
  const total = (pick: (counts: Counts) => number) => tallies.reduce((so, counts) => so + pick(counts), 0);
  return {
    kills: total(({ kills }) => kills),
    acknowledged: total(({ acknowledged }) => acknowledged),
    lost: total(({ lost }) => lost),
    twice: total(({ twice }) => twice),
    integrityFailures: total(({ integrityFailures }) => integrityFailures),
  };
}

async function runLane(options: KillLoopOptions, prefix: string, lane: number): Promise<Counts> {
  const { kills, seed, worker = standardWorker, report = () => {} } = options;
  const random = seededRandom(seed * lanes + lane);
  const files: Counts[] = [];
  for (let done = 0; done < kills; done += killsPerFile) {
    const file = `${prefix}-${done}.db`;
    const said: Acknowledgement[] = [];
    let wrong = { lost: 0, twice: 0, integrityFailures: 0 };
    for (let kill = done; kill < Math.min(done + killsPerFile, kills); kill += 1) {
      said.push(...(await runVictim(worker, file, drawMoment(random))));
      wrong = await judge(file, said, report);
    }
    // What is lost once stays lost: the last look at a file counts, not the sum of all looks.
    const acknowledged = said.filter(({ kind }) => kind !== 'twice').length;
    files.push({ kills: Math.min(killsPerFile, kills - done), acknowledged, ...wrong });
  }
  return sum(files);
}

/** One in eight dies while it starts: opening, migrating, resuming. */
function drawMoment(random: () => number): KillMoment {
  const isEarly = random() < 1 / 8;
  const afterAcknowledgements = isEarly ? 0 : 1 + Math.floor(random() * 40);
  return { afterAcknowledgements, delayMs: isEarly ? random() * 250 : random() * 4 };
}

async function judge(file: string, said: readonly Acknowledgement[], report: (problem: string) => void) {
  const store = openSqliteStore({ file, clock: { now: () => 0 } });
  try {
    const { lost, twice, unsound } = await verifyStore(store, said);
    for (const each of lost) report(`lost: ${each}`);
    for (const each of twice) report(`twice: ${each}`);
    for (const each of unsound) report(`unsound: ${each}`);
    return { lost: lost.length, twice: twice.length, integrityFailures: unsound.length };
  } finally {
    await store.close();
  }
}
