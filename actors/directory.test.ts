import { expect, test } from 'vitest';
import { idOf } from '../conformance/core/index.ts';
import { createManualTime } from '../conformance/testkit/index.ts';
import type { RunId } from '../machines/index.ts';
import { limits } from '../machines/index.ts';
import { createMemoryStore } from '../store/memory/index.ts';
import { createCommitter } from './committer.ts';
import { createDirectory } from './directory.ts';
import { internal } from './envelope.ts';
import { completePorts } from './ports.ts';
import { createSessionCache } from './sessions.ts';

test('directory: an actor just activated stays findable, however busy the others are', async () => {
  const { clock, wake } = createManualTime();
  const store = createMemoryStore({ clock });
  const beat = Promise.withResolvers<void>();
  const ports = completePorts({
    store,
    wake,
    ids: { uuid: () => 'never asked' },
    random: () => 0,
    limits: { ...limits, idleActorsMax: 1 },
  });
  const directory = createDirectory({
    ...ports,
    committer: createCommitter(store, wake, 1),
    heartbeat: { beat: () => beat.promise, ensureFresh: () => beat.promise, creditSequence: 0 },
    sessions: createSessionCache(store),
    onCommitted: () => {},
  });
  const [busy, next] = [idOf<RunId>('busy'), idOf<RunId>('next')];
  const answer = directory.actor(busy).send(internal({ type: 'JudgeNodes', nodes: [] }, 'system:test'));
  const activated = directory.actor(next);
  expect(directory.peek(next)).toBe(activated);
  beat.resolve();
  expect(await answer).toMatchObject({ outcome: 'rejected', code: 'UnknownEntity' });
});
