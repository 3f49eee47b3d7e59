/** Everything works where there is no network, and nothing of ours brings a broker. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { exampleFile, forgeyard, temporaryProject } from './test-support/forgeyard.ts';

/** Loaded before the program: whoever reaches for the network fails, and is told on. */
const noNetwork = `
import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';
import { syncBuiltinESMExports } from 'node:module';
const refuse = (what) => () => {
  process.stderr.write('network: ' + what + '\\n');
  throw new Error('there is no network: ' + what);
};
net.Socket.prototype.connect = refuse('connect');
net.Server.prototype.listen = refuse('listen');
dgram.createSocket = refuse('datagram');
dns.lookup = refuse('lookup');
globalThis.fetch = refuse('fetch');
syncBuiltinESMExports();
`;

let project = temporaryProject();
beforeEach(() => {
  project = temporaryProject();
});
afterEach(() => project.remove());

describe('003 §301.32 003 §303.25 no broker', () => {
  it('a run with outputs and a fan-in, its reconcilers and its publisher need no network', async () => {
    const hook = join(project.cwd, 'no-network.mjs');
    writeFileSync(hook, noNetwork);
    const place = { cwd: project.cwd, env: { NODE_OPTIONS: `--import=${pathToFileURL(hook).href}` } };
    const run = await forgeyard(place, 'run', 'start', exampleFile('outputs.yaml'));
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).not.toContain('network:');
    // The hook is one that bites.
    writeFileSync(hook, `${noNetwork}\nfetch('http://127.0.0.1:1');`);
    expect((await forgeyard(place, '--version')).stderr).toContain('network: fetch');
  });

  it('no package that is installed with ours speaks to a broker', () => {
    const manifest = z
      .object({ dependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')));
    const broker = /kafka|nats|amqp|rabbit|redis|bull|mqtt|pulsar|zeromq|sqs|pubsub/i;
    expect(Object.keys(manifest.dependencies).filter((name) => broker.test(name))).toEqual([]);
  });
});
