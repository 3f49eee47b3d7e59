import { expect, test } from 'vitest';
import * as runner from '../index.ts';

test('the entry of the runner offers its protocol too: a program can speak it without the agent', () => {
  const hello: runner.RunnerRequest = {
    type: 'hello',
    version: runner.protocolVersion,
    messageId: 'm1',
    runner: 'r1',
    session: 's1',
    name: 'mine',
    capabilities: [],
    slots: 1,
  };
  const encoded = runner.encodeRequest(hello);
  expect(encoded.ok && runner.decodeRequest(encoded.message)).toEqual({ ok: true, message: hello });
});
