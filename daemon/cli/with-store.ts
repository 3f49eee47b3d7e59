/** Opens the store for one command and closes it whatever happens. */
import type { Store } from '../../store/index.ts';
import type { Places } from '../compose/index.ts';
import { openStore, placesOf } from '../compose/index.ts';
import { exitCodes } from './exit-codes.ts';
import { Refusal } from './refusal.ts';
import type { Terminal } from './terminal.ts';

export interface OpenedStore {
  readonly store: Store;
  readonly places: Places;
}

export async function withStore<T>(
  terminal: Terminal,
  { create }: { readonly create: boolean },
  work: (opened: OpenedStore) => Promise<T>,
): Promise<T> {
  const places = placesFor(terminal);
  const store = await opened(places, create);
  try {
    return await work({ store, places });
  } finally {
    await store.close();
  }
}

function placesFor(terminal: Terminal): Places {
  const found = placesOf({ cwd: terminal.cwd, env: terminal.env, store: terminal.store });
  if (!found.ok) throw new Refusal(`--store: ${found.problem}`, { todo: found.hint });
  return found.places;
}

async function opened(places: Places, create: boolean): Promise<Store> {
  const store = await openStore(places, { create }).catch((error: unknown) => {
    throw storeTrouble(error);
  });
  if (store !== null) return store;
  throw new Refusal(`there is no store at ${places.store.kind === 'sqlite' ? places.store.file : places.store.kind}`, {
    todo: ['forgeyard run start PLAN makes one', 'go to the directory of your project, or name a store with --store'],
  });
}

/** `StoreOpenError` is told apart by its name, so that the driver is not loaded for the message. */
function storeTrouble(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const hint = 'hint' in error && typeof error.hint === 'string' ? error.hint : undefined;
  if (error.name !== 'StoreOpenError' && !('syscall' in error)) return error;
  return new Refusal(`the store cannot be used: ${error.message}`, { todo: hint, exitCode: exitCodes.trouble });
}
