/** Opens a store without the right to ignore file modes (root has it), and prints the code of the refusal. */
import { openSqliteStore, StoreOpenError } from '../index.ts';

const nobody = 65_534;
const [file = ''] = process.argv.slice(2);
if (process.getuid?.() === 0) {
  process.setgid?.(nobody);
  process.setuid?.(nobody);
}
try {
  const store = openSqliteStore({ file, clock: { now: () => 0 } });
  await store.close();
  console.log('opened');
} catch (error) {
  console.log(error instanceof StoreOpenError ? error.code : String(error));
}
