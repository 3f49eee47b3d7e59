/** Finds the actor of a run: activated on demand, passivated when idle (architecture: virtual actors). */
import type { RunId } from '../machines/index.ts';
import type { RunActor, RunActorPorts } from './run-actor.ts';
import { createRunActor } from './run-actor.ts';

export interface Directory {
  actor(run: RunId): RunActor;
  /** The actor if it is in memory; never activates. */
  peek(run: RunId): RunActor | undefined;
  readonly active: Iterable<RunActor>;
  /** Resolves when no actor has a command under way. */
  settled(): Promise<void>;
}

export function createDirectory(ports: RunActorPorts): Directory {
  // A Map keeps insertion order: the first entries are the least recently used.
  const actors = new Map<RunId, RunActor>();

  /** The one just activated stays: its command comes next, and whoever waits for it must find it here. */
  const passivateOthers = (than: RunId): void => {
    for (const [id, actor] of actors) {
      if (actors.size <= ports.limits.idleActorsMax) return;
      if (actor.idle && id !== than) actors.delete(id);
    }
  };

  return {
    actor(run) {
      const known = actors.get(run);
      const actor = known ?? createRunActor(run, ports);
      if (known !== undefined) actors.delete(run);
      actors.set(run, actor);
      if (known === undefined) passivateOthers(run);
      return actor;
    },
    peek: (run) => actors.get(run),
    get active() {
      return actors.values();
    },
    async settled() {
      for (;;) {
        const busy = [...actors.values()].filter((actor) => !actor.idle);
        if (busy.length === 0) return;
        await Promise.all(busy.map((actor) => actor.settled()));
      }
    },
  };
}
