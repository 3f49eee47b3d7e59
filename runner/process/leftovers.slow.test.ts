import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Witness } from '../test-support/stage.ts';
import { createWitness, stubborn } from '../test-support/stage.ts';
import { createAttemptRecords } from './attempt-records.ts';
import { processRow } from './process-table.ts';

let dir: string;
let witness: Witness;
const children: ChildProcess[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'leftovers-'));
  witness = await createWitness(dir);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  witness.close();
  await rm(dir, { recursive: true, force: true });
});

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
const doomedAgent = new URL('../test-support/doomed-agent.ts', import.meta.url).pathname;

function startDoomed(script: string, ...more: string[]): ChildProcess {
  const child = spawn(process.execPath, [doomedAgent, dir, script, ...more], { stdio: 'inherit' });
  children.push(child);
  return child;
}

describe('runner: what a dead agent leaves', () => {
  test('000 §269 after kill -9 of the agent the next one ends the workload, group members and strays too', async () => {
    const program = `"${process.execPath}" -e '${stubborn(witness)}'`;
    // The group's leader ends; one process stays in the group, one leaves it, one is in the foreground.
    const agent = startDoomed(`trap '' TERM\n${program} &\nsetsid ${program} &\n${program}`);
    await witness.present(3);
    const exited = once(agent, 'exit');
    agent.kill('SIGKILL');
    await exited;
    await witness.present(3);
    const [attempt = ''] = await readdir(join(dir, 'workspaces'));
    const swept = await createAttemptRecords(dir).sweep();
    await witness.gone();
    expect(swept).toEqual([{ attempt, groupsKilled: 1, left: null }]);
    expect(await exists(join(dir, 'workspaces', attempt))).toBe(false);
    expect(await createAttemptRecords(dir).sweep()).toEqual([]);
  });

  test('a drained agent leaves nothing that keeps its process alive', async () => {
    const agent = startDoomed(`"${process.execPath}" -e '${stubborn(witness)}' &`, 'drain');
    const [code] = await once(agent, 'exit');
    expect(code).toBe(0);
    await witness.gone();
    expect(await readdir(join(dir, 'workspaces'))).toEqual([]);
    expect(await readdir(join(dir, 'attempts'))).toEqual([]);
  });

  test('000 §192 when the process of the agent exits in the middle, its workload is killed', async () => {
    const agent = startDoomed(`exec "${process.execPath}" -e '${stubborn(witness)}'`, 'exit-on-term');
    await witness.present(1);
    agent.kill('SIGTERM');
    await once(agent, 'exit');
    await witness.gone();
  });

  test('the workload of an agent that lives is left alone', async () => {
    startDoomed(`exec "${process.execPath}" -e '${stubborn(witness)}'`);
    await witness.present(1);
    expect(await createAttemptRecords(dir).sweep()).toEqual([]);
    await witness.present(1);
    const [attempt = ''] = await readdir(join(dir, 'workspaces'));
    children.pop()?.kill('SIGKILL');
    // What the test started it also ends.
    await untilSwept(attempt);
    await witness.gone();
  });

  test('an innocent process that was given the pid of a dead one is not hit', async () => {
    const innocent = spawn(process.execPath, ['-e', stubborn(witness)], { detached: true, stdio: 'ignore' });
    children.push(innocent);
    await witness.present(1);
    const pid = innocent.pid ?? 0;
    const row = await processRow(pid);
    await mkdir(join(dir, 'attempts'), { recursive: true });
    const dead = { pid: 2 ** 22 - 3, started: 'boot:1' };
    const record = {
      version: 1,
      attempt: 'old',
      agent: dead,
      groups: [
        { pid, started: `${row?.started}1` },
        { pid: 1, started: null },
      ],
    };
    await writeFile(join(dir, 'attempts', 'old.json'), JSON.stringify(record));
    expect(await createAttemptRecords(dir).sweep()).toEqual([{ attempt: 'old', groupsKilled: 0, left: null }]);
    expect((await processRow(pid))?.state).not.toBe('Z');
    await witness.present(1);
  });

  test('damaged records are skipped and cannot point outside the state folder', async () => {
    await mkdir(join(dir, 'attempts'), { recursive: true });
    const dead = { pid: 2 ** 22 - 3, started: 'boot:1' };
    for (const [name, text] of Object.entries({
      'half.json': '{"version":1,"att',
      'evil.json': JSON.stringify({ version: 1, attempt: '../../x', agent: dead, groups: [] }),
      'other.json': JSON.stringify({ version: 1, attempt: 'not-other', agent: dead, groups: [] }),
      'newer.json': JSON.stringify({ version: 2, attempt: 'newer', agent: dead, groups: [] }),
    })) {
      await writeFile(join(dir, 'attempts', name), text);
    }
    expect(await createAttemptRecords(dir).sweep()).toEqual([]);
  });
});

/** The kill of the agent takes effect when the kernel says so. */
async function untilSwept(attempt: string): Promise<void> {
  for (;;) if ((await createAttemptRecords(dir).sweep()).some((swept) => swept.attempt === attempt)) return;
}
