/** Workloads never outlive an agent whose process exits in an orderly way. */
export interface ExitGuard {
  add(kill: () => void): () => void;
  close(): void;
}

export function createExitGuard(): ExitGuard {
  const kills = new Set<() => void>();
  const onExit = () => {
    for (const kill of kills) kill();
  };
  process.on('exit', onExit);
  return {
    add(kill) {
      kills.add(kill);
      return () => kills.delete(kill);
    },
    close() {
      process.removeListener('exit', onExit);
    },
  };
}
