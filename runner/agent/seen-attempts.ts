/** Remembers the newest attempts. Offers are answered within seconds; older ones cannot come back. */
export interface SeenAttempts {
  has(attempt: string): boolean;
  add(attempt: string): void;
}

const seenAttemptsMax = 10_000;

export function createSeenAttempts(max: number = seenAttemptsMax): SeenAttempts {
  const seen = new Set<string>();
  return {
    has: (attempt) => seen.has(attempt),
    add(attempt) {
      seen.add(attempt);
      const [oldest] = seen;
      if (seen.size > max && oldest !== undefined) seen.delete(oldest);
    },
  };
}
