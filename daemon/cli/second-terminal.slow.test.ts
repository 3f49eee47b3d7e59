/** Two processes on one store: one carries runs, the other looks, decides, cancels; signals; leaving and resuming. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Running } from './test-support/forgeyard.ts';
import { exampleFile, forgeyard, json, start, temporaryProject } from './test-support/forgeyard.ts';

let project = temporaryProject();
let started: Running[] = [];
beforeEach(() => {
  project = temporaryProject();
  started = [];
});
afterEach(async () => {
  for (const running of started) {
    running.child.kill('SIGKILL');
    await running.ended;
  }
  project.remove();
});

const begin = (...words: readonly string[]): Running => {
  const running = start({ cwd: project.cwd }, ...words);
  started.push(running);
  return running;
};
const call = async (...words: readonly string[]) => await forgeyard({ cwd: project.cwd }, ...words);

function plan(name: string, text: string): string {
  const file = join(project.cwd, `${name}.yaml`);
  writeFileSync(file, `project: test\nname: ${name}\ndefaults:\n  timeouts: {grace: 1s}\n${text}`);
  return file;
}
const sleeper = () =>
  plan('sleeper', 'jobs:\n  slow:\n    steps: [sleep 60]\n  after:\n    needs: [slow]\n    steps: [echo]\n');
/** Slow at first, quick when it is tried again. */
const patient = () =>
  plan(
    'patient',
    `jobs:\n  long:\n    retry: {backoff: none}\n    steps: ['if [ "$FORGEYARD_ATTEMPT" -ge 2 ]; then exit 0; fi; sleep 60']\n`,
  );

async function fieldOf(what: readonly string[], field: string): Promise<unknown> {
  const view = await json({ cwd: project.cwd }, ...what);
  return typeof view === 'object' && view !== null ? Reflect.get(view, field) : undefined;
}

describe('a second terminal', () => {
  it('lists, shows and explains while the first one runs, and its cancel ends the run', async () => {
    const first = begin('run', 'start', sleeper());
    await first.seen(/slow {2}runs/);
    expect((await call('run', 'list')).stdout).toMatch(/test\/sleeper +Running +0\/2/);
    expect((await call('run', 'show', '@last')).stdout).toMatch(/slow +Running +1/);
    expect((await call('job', 'explain', '@last/after')).stdout).toContain(
      'waits for job slow to succeed: it is Running',
    );
    const cancelled = await call('run', 'cancel', '@last', '-m', 'enough');
    expect(cancelled).toMatchObject({ code: 0, stdout: expect.stringContaining('Cancelled requested') });
    expect((await first.ended).code).toBe(2);
    expect(await fieldOf(['run', 'show', '@last'], 'state')).toBe('Cancelled');
    // Asking again for what is so is fine; asking for something else is a conflict.
    expect((await call('run', 'cancel', '@last')).code).toBe(0);
    expect((await call('job', 'skip', '@last/after')).code).toBe(5);
  });

  it('000 §375.33 follows a run the first one carries; who decided its gate is on record', async () => {
    const first = begin('run', 'start', exampleFile('gate.yaml'));
    await first.seen(/waits for a decision/);
    const watching = begin('run', 'watch', '@last');
    await watching.seen(/waits for a decision/);
    expect((await call('gate', 'list')).stdout).toMatch(/release .* open/);
    expect((await call('gate', 'approve', '@last/release')).code).toBe(0);
    expect((await watching.ended).code).toBe(0);
    expect((await first.ended).code).toBe(0);
    expect((await call('run', 'events', '@last')).stdout).toMatch(
      /GateSatisfied +release +Satisfied +user:\S+ +Approved/,
    );
  });

  it('a gate that is not open yet refuses a verdict, and the refusal says where to look', async () => {
    const file = plan(
      'early',
      'jobs:\n  build:\n    steps: [echo]\ngates:\n  ok:\n    needs: [build]\n    expiry: 1h\n',
    );
    expect((await call('plan', 'check', file)).stdout).toMatch(/: ok, 1 job, 1 gate$/m);
    expect((await call('run', 'start', file, '--detach')).code).toBe(0);
    const early = await call('gate', 'approve', '@last/ok');
    expect(early.code).not.toBe(0);
    expect(early.stderr).toMatch(/GateNotOpen[\s\S]*try: forgeyard run explain run_\w{26}\n/);
  });

  it('a rejected gate is a failure, and the opposite verdict afterwards a conflict', async () => {
    const first = begin('run', 'start', exampleFile('gate.yaml'));
    await first.seen(/waits for a decision/);
    expect((await call('gate', 'reject', '@last/release', '-m', 'not today')).code).toBe(0);
    expect((await first.ended).code).toBe(1);
    expect((await call('gate', 'approve', '@last/release')).code).toBe(5);
  });

  it('watching is only looking: Ctrl-C there ends nothing', async () => {
    const first = begin('run', 'start', sleeper());
    await first.seen(/slow {2}runs/);
    const watching = begin('run', 'watch', '@last');
    await watching.seen(/slow {2}runs/);
    watching.child.kill('SIGINT');
    expect((await watching.ended).code).toBe(130);
    expect(await fieldOf(['run', 'show', '@last'], 'state')).toBe('Running');
  });
});

describe('signals', () => {
  it('Ctrl-C once cancels the run and waits for it', async () => {
    const running = begin('run', 'start', sleeper());
    await running.seen(/slow {2}runs/);
    running.child.kill('SIGINT');
    const { code, stderr } = await running.ended;
    expect(code, stderr).toBe(2);
    expect(await fieldOf(['run', 'show', '@last'], 'state')).toBe('Cancelled');
  });

  it('Ctrl-C twice leaves at once, says how to go on, and the cancel stands', async () => {
    const file = plan(
      'stubborn',
      `jobs:\n  stubborn:\n    timeouts: {grace: 30s}\n    steps: ["trap '' TERM; sleep 60"]\n`,
    );
    const running = begin('run', 'start', file);
    await running.seen(/stubborn {2}runs/);
    running.child.kill('SIGINT');
    await running.seen(/Ctrl-C again leaves/);
    running.child.kill('SIGINT');
    const { code, stderr } = await running.ended;
    expect(code, stderr).toBe(130);
    expect(stderr).toMatch(/forgeyard run watch --resume run_\w{26}/);
    expect((await call('run', 'watch', '--resume', '@last')).code).toBe(2);
  });

  it('SIGTERM leaves; the run goes on with --resume, and the interrupted attempt was no fault of the work', async () => {
    const running = begin('run', 'start', patient());
    await running.seen(/long {2}runs/);
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(143);
    const resumed = await call('run', 'watch', '--resume', '@last');
    expect(resumed.code, resumed.stderr).toBe(0);
    const attempts = await call('job', 'attempts', '@last/long');
    expect(attempts.stdout).toMatch(/^#1 .*infrastructure.*-> retried\n#2 .*Succeeded.*-> job Succeeded\n$/);
  });

  it('000 §375.28 a killed process loses its runner, not the run: the next start carries it on', async () => {
    const running = begin('run', 'start', exampleFile('lost-runner.yaml'));
    const [, id = ''] = await running.seen(/carrying (run_\w{26})/);
    await running.seen(/long {2}runs/);
    running.child.kill('SIGKILL');
    await running.ended;
    expect((await call('run', 'watch', id, '--resume')).code).toBe(0);
    const { stdout } = await call('job', 'attempts', `${id}/long`);
    expect(stdout).toMatch(/^#1 .*Lost \(infrastructure, RunnerLost.*-> retried\n#2 .*Succeeded.*-> job Succeeded\n$/);
  });

  it('000 §375.27 the next start says that it carries on what is unfinished, and does', async () => {
    const running = begin('run', 'start', patient());
    const [, id = ''] = await running.seen(/carrying (run_\w{26})/);
    await running.seen(/long {2}runs/);
    running.child.kill('SIGKILL');
    await running.ended;
    const next = await call('run', 'start', plan('quick', 'jobs:\n  only:\n    steps: [sleep 1]\n'));
    expect(next.code, next.stderr).toBe(0);
    expect(next.stderr).toContain(`unfinished in this store: ${id}`);
    expect(await fieldOf(['run', 'show', id], 'state')).toBe('Succeeded');
  });
});
