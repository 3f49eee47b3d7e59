/** What the core must do, told by driving it: run on the real charts by tests, on wrong ones by `npm run mutants`. */

import { authority } from './authority.ts';
import type { Behaviour } from './behaviour.ts';
import { graph } from './graph.ts';
import { identities } from './identities.ts';
import { intents } from './intents.ts';
import { outages } from './outages.ts';
import { phases } from './phases.ts';
import { retries } from './retries.ts';
import { timeouts } from './timeouts.ts';

export type { Behaviour } from './behaviour.ts';
export const behaviours: readonly Behaviour[] = [
  ...phases,
  ...authority,
  ...retries,
  ...intents,
  ...timeouts,
  ...graph,
  ...outages,
  ...identities,
];
