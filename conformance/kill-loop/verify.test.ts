import { describe, expect, it } from 'vitest';
import type { LeaseId, MessageId, RunId } from '../../machines/model/index.ts';
import { createMemoryStore } from '../../store/index.ts';
import { acceptStep, createStep, currentLease, grantStep, id, makePlan } from '../../store/suite/index.ts';
import { fallsShort } from './index.ts';
import { parseOptions } from './options.ts';
import { parseAcknowledgement } from './parse-acknowledgement.ts';
import { verifyStore } from './verify.ts';

const now = 1_750_000_000_000;
const run = id<RunId>('run-1');

async function sample() {
  const store = createMemoryStore({ clock: { now: () => now } });
  const created = createStep({ runId: run, plan: makePlan([{}]), now, message: 'create' });
  const granted = grantStep(created.rows, { index: 0, now, message: 'grant' });
  const accepted = acceptStep(granted.rows, { index: 0, now, message: 'accept' });
  for (const { commit } of [created, granted, accepted]) await store.commit([commit]);
  return { store, lease: currentLease(accepted.rows, 0), sequence: accepted.rows.run.sequence };
}

const committed = (message: string, sequence: number) =>
  ({ kind: 'committed', run, message: id<MessageId>(message), sequence }) as const;

describe('kill loop: verification', () => {
  it('finds nothing wrong where everything said is there', async () => {
    const { store, lease, sequence } = await sample();
    const said = [
      committed('create', 1),
      committed('accept', sequence),
      { kind: 'promised', run, lease: lease.id, expiresAt: lease.expiresAt },
      { kind: 'published', run, first: 1 },
    ] as const;
    expect(await verifyStore(store, said)).toEqual({ lost: [], twice: [], unsound: [] });
  });

  it.each([
    ['a message without a receipt', committed('never', 1)],
    ['a sequence the run never reached', committed('create', 99)],
    [
      'a promise the lease does not keep',
      { kind: 'promised', run, lease: id<LeaseId>('run-1.job-0.lease-1'), expiresAt: now * 2 },
    ],
    ['a lease that is not there', { kind: 'promised', run, lease: id<LeaseId>('never'), expiresAt: 1 }],
    ['a run that is not there', { ...committed('create', 1), run: id<RunId>('never') }],
  ] as const)('lost: %s', async (_what, line) => {
    const { store } = await sample();
    expect((await verifyStore(store, [line])).lost.length).toBe(1);
  });

  it.each([
    ['a message answered twice as new', [committed('create', 1), committed('create', 1)]],
    [
      'a batch delivered after its delivery was settled',
      [
        { kind: 'published', run, first: 1 },
        { kind: 'published', run, first: 1 },
      ],
    ],
    ['what the worker itself saw', [{ kind: 'twice', run, message: id<MessageId>('grant') }]],
  ] as const)('twice: %s', async (_what, lines) => {
    const { store } = await sample();
    expect((await verifyStore(store, lines)).twice.length).toBe(1);
  });

  it('a line cut in half was not said', () => {
    expect(parseAcknowledgement('{"kind":"committed","run":"r')).toBe(null);
    expect(parseAcknowledgement('{"kind":"published","run":"r","first":1}')).toEqual({
      kind: 'published',
      run: 'r',
      first: 1,
    });
  });
});

describe('kill loop: command line', () => {
  it('takes a number of kills and a seed', () => {
    expect(parseOptions([], 5)).toEqual({ kind: 'options', kills: 200, seed: 5 });
    expect(parseOptions(['--kills', '7', '--seed=9'], 5)).toEqual({ kind: 'options', kills: 7, seed: 9 });
    expect(parseOptions(['--kills', '100000'], 5).kind).toBe('options');
  });

  it.each(['0', '-1', '1.5', 'many', '', '100001', '1e3', '0x10'])('refuses --kills %s', (kills) => {
    expect(parseOptions([`--kills=${kills}`], 5).kind).toBe('wrong');
  });

  it.each([['--seed=x'], ['--seed=-1'], ['--kill=3'], ['3']])('refuses %s', (argument) => {
    expect(parseOptions([argument], 5).kind).toBe('wrong');
  });

  it('falls short on any loss, repeat, damage, or too little traffic', () => {
    const fine = { kills: 10, acknowledged: 100, lost: 0, twice: 0, integrityFailures: 0, seed: 1 };
    expect(fallsShort(fine, 10)).toBe(false);
    for (const worse of [{ kills: 9 }, { acknowledged: 9 }, { lost: 1 }, { twice: 1 }, { integrityFailures: 1 }]) {
      expect(fallsShort({ ...fine, ...worse }, 10)).toBe(true);
    }
  });
});
