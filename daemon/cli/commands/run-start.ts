/** `run start`: from a plan file to a run, and its result as the exit code. */
import { dirname, resolve } from 'node:path';
import type { CreateRunResult, Runtime } from '../../../actors/index.ts';
import type { ExecutablePlan, RunId } from '../../../machines/index.ts';
import { canonicalJson } from '../../../machines/plan/index.ts';
import { createRunSources, loadOperator, localActor } from '../../compose/index.ts';
import { publicId, withPublicIds } from '../../ids/index.ts';
import { sha256Digest } from '../../plan/index.ts';
import { carryRun } from '../carry-run.ts';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodeOfRejection, exitCodes } from '../exit-codes.ts';
import type { HostFlags } from '../host-options.ts';
import { hostSettings } from '../host-options.ts';
import { emit } from '../output/emit.ts';
import { Refusal } from '../refusal.ts';
import type { Terminal } from '../terminal.ts';
import { troubleText } from '../trouble-text.ts';
import { withStore } from '../with-store.ts';
import { readPlan } from './read-plan.ts';

export interface RunStartOptions extends HostFlags {
  readonly label?: Readonly<Record<string, string>>;
  readonly priority?: number;
  readonly requestId?: string;
  readonly detach?: boolean;
}

export async function runStart(terminal: Terminal, path: string, options: RunStartOptions): Promise<ExitCode> {
  const written = await readPlan(terminal, path);
  if (written === null) return exitCodes.usage;
  const plan = withOverrides(written, options);
  return await withStore(terminal, { create: true }, async (opened) => {
    const create = async (runtime: Runtime): Promise<RunId> => {
      const result = await runtime.runs.create({
        actor: localActor(),
        plan,
        planDigest: sha256Digest(canonicalJson(plan)),
        ...(options.requestId === undefined ? {} : { requestId: options.requestId }),
      });
      const runId = runIdOf(result, terminal);
      createRunSources(opened.places.runner).remember(runId, dirname(resolve(terminal.cwd, path)));
      return runId;
    };
    if (options.detach === true) return await detached(terminal, opened.store, create);
    return await carryRun(terminal, opened, { settings: hostSettings(options), begin: create });
  });
}

/** Creates the run and leaves it to whoever carries runs of this store. */
export async function detached(
  terminal: Terminal,
  store: Runtime['store'],
  create: (runtime: Runtime) => Promise<RunId>,
): Promise<ExitCode> {
  const { createOperator } = await loadOperator();
  const runtime = createOperator(store, (where, error) => terminal.note(troubleText(where, error)));
  const id = publicId('run', await create(runtime));
  await runtime.settled();
  await emit(terminal, { data: { id }, table: () => id });
  terminal.progress(`created; forgeyard run watch --resume ${id} carries it`);
  return exitCodes.ok;
}

export function runIdOf(result: CreateRunResult, terminal: Terminal): RunId {
  switch (result.outcome) {
    case 'created':
      for (const run of result.superseded) terminal.progress(`supersedes ${publicId('run', run)}`);
      return result.runId;
    case 'existing':
      terminal.progress(`this request had already created ${publicId('run', result.runId)}`);
      return result.runId;
    case 'rejected':
      throw new Refusal(`the run was not created: ${result.code}`, {
        why: withPublicIds(result.detail),
        todo: result.code === 'RunExists' ? 'another --request-id, or none' : undefined,
        exitCode: exitCodeOfRejection(result.code),
      });
    default:
      return result satisfies never;
  }
}

function withOverrides(plan: ExecutablePlan, { label = {}, priority }: RunStartOptions): ExecutablePlan {
  const labels = { ...plan.labels, ...label };
  return { ...plan, labels, priority: priority ?? plan.priority };
}
