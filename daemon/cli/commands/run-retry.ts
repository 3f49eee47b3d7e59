/** `run retry`: a new run of the same plan, linked to the old one (000 §203). */

import type { Runtime } from '../../../actors/index.ts';
import type { RunId } from '../../../machines/index.ts';
import { createRunSources, localActor } from '../../compose/index.ts';
import { publicId } from '../../ids/index.ts';
import { carryRun } from '../carry-run.ts';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodes } from '../exit-codes.ts';
import { findRun } from '../find/index.ts';
import type { HostFlags } from '../host-options.ts';
import { hostSettings } from '../host-options.ts';
import { Refusal } from '../refusal.ts';
import type { Terminal } from '../terminal.ts';
import { withStore } from '../with-store.ts';
import { detached, runIdOf } from './run-start.ts';

export interface RunRetryOptions extends HostFlags {
  readonly detach?: boolean;
}

export async function runRetry(terminal: Terminal, typed: string, options: RunRetryOptions): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async (opened) => {
    const run = await findRun(opened.store, typed);
    const id = publicId('run', run.id);
    if (run.finishedAt === null) {
      throw new Refusal(`${id} has not ended: it is ${run.state}`, {
        todo: [`forgeyard run watch ${id}`, `forgeyard run cancel ${id}`],
        exitCode: exitCodes.conflict,
      });
    }
    const create = async (runtime: Runtime): Promise<RunId> => {
      const runId = runIdOf(await runtime.runs.retry(run.id, { actor: localActor() }), terminal);
      const sources = createRunSources(opened.places.runner);
      sources.remember(runId, sources.of(run.id) ?? opened.places.project);
      return runId;
    };
    if (options.detach === true) return await detached(terminal, opened.store, create);
    return await carryRun(terminal, opened, {
      settings: hostSettings(options),
      begin: create,
    });
  });
}
