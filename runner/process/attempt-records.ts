/**
 * What this machine must clean up if the agent dies without a word: one small file per attempt, naming
 * the agent and the process groups. The next agent on the same state folder sweeps the attempts of
 * agents that are gone (000 §269). A pid alone is never trusted: it may have been given out again.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../outputs/output-store.ts';
import { isPlainId, removeWorkspace, workspaceDirectory } from '../workspace/workspace.ts';
import { isDead, processRow, signalGroup, signalPid } from './process-table.ts';
import { killStrays } from './workload.ts';

interface ProcessIdentity {
  readonly pid: number;
  readonly started: string | null;
}
interface AttemptRecord {
  readonly version: 1;
  readonly attempt: string;
  readonly agent: ProcessIdentity;
  readonly groups: readonly ProcessIdentity[];
}

export interface AttemptRecords {
  write(attempt: string, groups: readonly number[]): Promise<void>;
  remove(attempt: string): Promise<void>;
  /** Ends what dead agents left running and removes their workspaces. */
  sweep(): Promise<readonly SweptAttempt[]>;
}
export interface SweptAttempt {
  readonly attempt: string;
  readonly groupsKilled: number;
  /** Why its workspace could not be removed; null when it is gone. */
  readonly left: string | null;
}

export function createAttemptRecords(stateDir: string): AttemptRecords {
  const dir = join(stateDir, 'attempts');
  const path = (attempt: string) => join(dir, `${attempt}.json`);
  return {
    async write(attempt, groups) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const record: AttemptRecord = {
        version: 1,
        attempt,
        agent: await identity(process.pid),
        groups: await Promise.all(groups.map(identity)),
      };
      const temporary = join(dir, `${attempt}.tmp`);
      await writeFile(temporary, JSON.stringify(record), { mode: 0o600 });
      await rename(temporary, path(attempt));
    },
    remove: (attempt) => rm(path(attempt), { force: true }),
    async sweep() {
      const swept: SweptAttempt[] = [];
      for (const record of await readRecords(dir)) {
        if (await agentLives(record.agent)) continue;
        let groupsKilled = 0;
        for (const group of record.groups) {
          if (!(await sameProcess(group))) continue;
          signalGroup(group.pid, 'SIGKILL');
          groupsKilled += 1;
        }
        // Groups whose leader is gone, and processes that left their group, are found by their mark.
        await killStrays(new Set([record.attempt]));
        const left = await removeWorkspace(workspaceDirectory(stateDir, record.attempt));
        await rm(path(record.attempt), { force: true });
        swept.push({ attempt: record.attempt, groupsKilled, left });
      }
      return swept;
    },
  };
}

async function identity(pid: number): Promise<ProcessIdentity> {
  return { pid, started: (await processRow(pid))?.started ?? null };
}

async function sameProcess({ pid, started }: ProcessIdentity): Promise<boolean> {
  if (started === null) return false;
  const row = await processRow(pid);
  return row !== null && row.started === started && !isDead(row);
}

async function agentLives(agent: ProcessIdentity): Promise<boolean> {
  return agent.started === null ? signalPid(agent.pid, 0) : await sameProcess(agent);
}

async function readRecords(dir: string): Promise<readonly AttemptRecord[]> {
  let names: readonly string[];
  try {
    names = await readdir(dir);
  } catch (cause) {
    if (isMissing(cause)) return [];
    throw cause;
  }
  const records: AttemptRecord[] = [];
  for (const name of names.filter((candidate) => candidate.endsWith('.json'))) {
    const record = parseRecord(await readFile(join(dir, name), 'utf8').catch(() => ''));
    if (record !== null && name === `${record.attempt}.json`) records.push(record);
  }
  return records;
}

function parseRecord(text: string): AttemptRecord | null {
  try {
    const value: Partial<AttemptRecord> = JSON.parse(text);
    const { attempt, agent, groups } = value;
    if (value.version !== 1 || typeof attempt !== 'string' || !isPlainId(attempt)) return null;
    if (!isIdentity(agent) || !Array.isArray(groups)) return null;
    return { version: 1, attempt, agent, groups: groups.filter(isIdentity).filter(isGroup) };
  } catch {
    return null;
  }
}

function isIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('started' in value)) return false;
  const { pid, started } = value;
  return Number.isInteger(pid) && Number(pid) >= 1 && (started === null || typeof started === 'string');
}

/** Signalling "group 1" would signal everything. */
function isGroup(group: ProcessIdentity): boolean {
  return group.pid > 1;
}
