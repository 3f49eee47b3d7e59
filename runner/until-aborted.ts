/** Rejects with the signal's reason when it is aborted first, also for work that does not listen to it. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: abort, reject } = Promise.withResolvers<never>();
  const listener = () => reject(signal.reason);
  if (signal.aborted) listener();
  signal.addEventListener('abort', listener, { once: true });
  try {
    return await Promise.race([work, abort]);
  } finally {
    signal.removeEventListener('abort', listener);
    // The loser's failure concerns nobody any more.
    work.catch(() => undefined);
    abort.catch(() => undefined);
  }
}
