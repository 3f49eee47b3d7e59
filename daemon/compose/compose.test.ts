import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { currentHost, formatHost, isProvenDead, parseHost } from './host-identity.ts';
import { openStore } from './open-store.ts';
import type { Places } from './places.ts';
import { placesOf } from './places.ts';
import { seededRandom } from './random.ts';

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'forgeyard-compose-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function places(options: {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly store?: string;
}): Places {
  const found = placesOf({ cwd: options.cwd ?? root, env: options.env ?? {}, store: options.store });
  if (!found.ok) throw new Error(found.problem);
  return found.places;
}

describe('places', () => {
  it('the default store lies below the root of the project, also when asked from inside it', () => {
    const inner = join(root, 'project', 'a', 'b');
    mkdirSync(inner, { recursive: true });
    writeFileSync(join(root, 'project', 'forgeyard.yaml'), '');
    expect(places({ cwd: inner }).store).toEqual({
      kind: 'sqlite',
      file: join(root, 'project', '.forgeyard', 'forgeyard.db'),
    });
  });

  it('FORGEYARD_HOME moves everything; --store wins over FORGEYARD_STORE', () => {
    expect(places({ env: { FORGEYARD_HOME: 'elsewhere' } }).logs).toBe(join(root, 'elsewhere', 'logs'));
    expect(places({ env: { FORGEYARD_STORE: 'memory:' }, store: 'x.db' }).store).toEqual({
      kind: 'sqlite',
      file: join(root, 'x.db'),
    });
  });

  it('what belongs to another database lies beside it', () => {
    expect(places({ store: 'sqlite:x.db' }).outputs).toBe(join(root, 'x.db.d', 'outputs'));
    expect(places({ store: join(root, '.forgeyard', 'forgeyard.db') }).home).toBe(join(root, '.forgeyard'));
  });

  it.each(['', ' ', 'postgres://host/db', 'mysql:x', 'sqlite:', 'memory:x', 'a\0b'])(
    'refuses the store %j',
    (store) => {
      expect(placesOf({ cwd: root, env: {}, store }).ok).toBe(false);
    },
  );
});

describe('opening', () => {
  it('reading never makes a store; creating makes one that git does not see', async () => {
    const place = places({ cwd: join(root), env: { FORGEYARD_HOME: 'fresh' } });
    expect(await openStore(place, { create: false })).toBeNull();
    const store = await openStore(place, { create: true });
    await store?.close();
    expect(readFileSync(join(place.home, '.gitignore'), 'utf8')).toBe('*\n');
    expect(await openStore(place, { create: false }).then((found) => found?.close())).toBeUndefined();
  });
});

describe('host identity', () => {
  const gone = () => null;

  it('is read back as it was written, fits the protocol, and a live process is never proven dead', () => {
    const host = currentHost();
    expect(parseHost(formatHost(host))).toEqual(host);
    expect(formatHost(host).length).toBeLessThanOrEqual(128);
    expect(isProvenDead(formatHost(host), host)).toBe(false);
  });

  it('a process is proven dead when it is gone, when its pid was given out again, or when the machine was rebooted', () => {
    const host = currentHost();
    expect(isProvenDead(formatHost(host), host, gone)).toBe(true);
    expect(isProvenDead(formatHost(host), host, () => 'later')).toBe(true);
    expect(isProvenDead(formatHost({ ...host, boot: '0'.repeat(16) }), host)).toBe(true);
  });

  it('nothing is proven of another machine, another container, an unknown start, or a text nobody wrote', () => {
    const host = currentHost();
    const other = '0'.repeat(16);
    for (const change of [
      { machine: other },
      { namespace: other },
      { namespace: other, boot: other },
      { started: null },
    ])
      expect(isProvenDead(formatHost({ ...host, ...change }), host, gone)).toBe(false);
    for (const text of ['', 'v1', `v2${formatHost(host).slice(2)}`, `${formatHost(host)} more`])
      expect(isProvenDead(text, host, gone)).toBe(false);
  });
});

describe('seeded chance', () => {
  it('is the same for the same seed, and between 0 and 1', () => {
    const [one, other] = [seededRandom(7), seededRandom(7)];
    const drawn = Array.from({ length: 1_000 }, one);
    expect(drawn).toEqual(Array.from({ length: 1_000 }, other));
    expect(drawn.every((value) => value >= 0 && value < 1)).toBe(true);
    expect(new Set(drawn).size).toBeGreaterThan(990);
  });
});
