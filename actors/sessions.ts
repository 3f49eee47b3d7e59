/** What this process knows of runner sessions. The committing statement checks again, so a stale entry only costs a retry. */
import type { SessionId, SessionRow } from '../machines/index.ts';
import type { Store } from '../store/index.ts';

export interface SessionCache {
  /** Those that take work, as of this call: what is forgotten meanwhile is not missing here. */
  activeAmong(sessions: readonly SessionId[]): Promise<ReadonlySet<SessionId>>;
  get(session: SessionId): Promise<SessionRow | null>;
  forget(session: SessionId): void;
  forgetAll(): void;
}

/** Rows kept; more sessions than that are fetched again. */
const cachedMax = 10_000;

export function createSessionCache(store: Pick<Store, 'session'>): SessionCache {
  const rows = new Map<SessionId, SessionRow>();
  const get = async (id: SessionId): Promise<SessionRow | null> => {
    const known = rows.get(id);
    if (known !== undefined) return known;
    const row = await store.session(id);
    if (rows.size >= cachedMax) rows.clear();
    if (row !== null) rows.set(id, row);
    return row;
  };
  return {
    async activeAmong(sessions) {
      const active = new Set<SessionId>();
      for (const id of new Set(sessions)) if ((await get(id))?.state === 'Active') active.add(id);
      return active;
    },
    get,
    forget(id) {
      rows.delete(id);
    },
    forgetAll() {
      rows.clear();
    },
  };
}
