/** Says that it committed what it never did, and waits to be killed: a loop that does not notice proves nothing. */

import { openSqliteStore } from '../../../store/index.ts';
import { createStep, id, makePlan } from '../../../store/suite/index.ts';
import { printAcknowledgement } from '../acknowledgements.ts';

const [file = ''] = process.argv.slice(2);
const store = openSqliteStore({ file, clock: { now: () => 1_750_000_000_000 } });
const step = createStep({ runId: id(`run-${process.pid}`), plan: makePlan([{}]), now: store.now(), message: 'create' });
await store.commit([step.commit]);
const said = { kind: 'committed', run: step.rows.run.id } as const;
printAcknowledgement({ ...said, message: id('create'), sequence: 1 });
for (let place = 0; place < 50; place += 1) {
  printAcknowledgement({ ...said, message: id(`never-${place}`), sequence: 1 });
}
setInterval(() => {}, 60_000);
