import type { RunId } from '../../../machines/index.ts';
import { publicId } from '../../ids/index.ts';
import { shellWord } from '../../views/index.ts';

/** With the id of the run: "the last one" may be another one by the time it is typed. */
export const approveCommand = (run: RunId, gate: string): string =>
  `forgeyard gate approve ${shellWord(`${publicId('run', run)}/${gate}`)}`;
