/** Commands that ask the control plane for something: cancel, priority, skip, approve, reject. */
import type { CommandOptions, CommandResult, Runtime } from '../../../actors/index.ts';
import { loadOperator, localActor } from '../../compose/index.ts';
import { publicId, withPublicIds } from '../../ids/index.ts';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodeOfRejection, exitCodes } from '../exit-codes.ts';
import { findGate, findJob, findRun } from '../find/index.ts';
import { emit } from '../output/emit.ts';
import { Refusal } from '../refusal.ts';
import type { Terminal } from '../terminal.ts';
import { troubleText } from '../trouble-text.ts';
import { withStore } from '../with-store.ts';

export interface DecideOptions {
  readonly message?: string;
}

interface Asked {
  readonly id: string;
  readonly what: string;
  /** What explains a refusal that has to do with the state of the run. */
  readonly run: string;
  readonly result: CommandResult;
  /** Standing states that are what was asked for. */
  readonly wanted: readonly string[];
}

export async function runCancel(terminal: Terminal, typed: string, options: DecideOptions): Promise<ExitCode> {
  return await decide(terminal, options, async (runtime, command) => {
    const run = await findRun(runtime.store, typed);
    const result = await runtime.runs.cancel(run.id, command);
    return { id: publicId('run', run.id), run: publicId('run', run.id), what: 'cancel', result, wanted: ['Cancelled'] };
  });
}

export async function runPriority(terminal: Terminal, typed: string, priority: number): Promise<ExitCode> {
  return await decide(terminal, {}, async (runtime, command) => {
    const run = await findRun(runtime.store, typed);
    const result = await runtime.runs.changePriority(run.id, priority, command);
    return { id: publicId('run', run.id), run: publicId('run', run.id), what: 'priority', result, wanted: [] };
  });
}

export async function jobCancel(terminal: Terminal, typed: string, options: DecideOptions): Promise<ExitCode> {
  return await decide(terminal, options, async (runtime, command) => {
    const { row } = await findJob(runtime.store, typed);
    const result = await runtime.jobs.cancel(row.runId, row.id, command);
    return {
      id: publicId('job', row.id),
      run: publicId('run', row.runId),
      what: 'cancel',
      result,
      wanted: ['Cancelled'],
    };
  });
}

export async function jobSkip(terminal: Terminal, typed: string, options: DecideOptions): Promise<ExitCode> {
  return await decide(terminal, options, async (runtime, command) => {
    const { row } = await findJob(runtime.store, typed);
    const result = await runtime.jobs.skip(row.runId, row.id, command);
    return { id: publicId('job', row.id), run: publicId('run', row.runId), what: 'skip', result, wanted: ['Skipped'] };
  });
}

export type Verdict = 'approve' | 'reject';

export async function gateDecide(
  terminal: Terminal,
  typed: string,
  options: DecideOptions & { readonly verdict: Verdict },
): Promise<ExitCode> {
  return await decide(terminal, options, async (runtime, command) => {
    const { row } = await findGate(runtime.store, typed);
    const result = await runtime.gates.decide(row.runId, row.id, options.verdict, command);
    const wanted = options.verdict === 'approve' ? ['Satisfied'] : ['Rejected'];
    return { id: publicId('gate', row.id), run: publicId('run', row.runId), what: options.verdict, result, wanted };
  });
}

async function decide(
  terminal: Terminal,
  { message }: DecideOptions,
  ask: (runtime: Runtime, command: CommandOptions) => Promise<Asked>,
): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store }) => {
    const { createOperator } = await loadOperator();
    const runtime = createOperator(store, (where, error) => terminal.note(troubleText(where, error)));
    const asked = await ask(runtime, { actor: localActor(), message: message ?? null });
    // What follows from the command at once is this process's to do, before it lets go of the store.
    await runtime.settled();
    return await report(terminal, asked);
  });
}

async function report(terminal: Terminal, { id, run, what, result, wanted }: Asked): Promise<ExitCode> {
  switch (result.outcome) {
    case 'accepted': {
      const data = { id, outcome: 'accepted', ...standing(result.reply) };
      await emit(terminal, { data, table: () => `${id}  ${standingText(result)}` });
      return exitCodes.ok;
    }
    case 'no-op': {
      const state = standing(result.reply).state;
      const isConflict = result.code === 'AlreadyTerminal' && !wanted.includes(state ?? '');
      const data = { id, outcome: 'no-op', code: result.code, ...standing(result.reply) };
      await emit(terminal, { data, table: () => `${id}  ${standingText(result)} already` });
      if (isConflict) terminal.note(`error: ${what} changed nothing: it had already ended`);
      return isConflict ? exitCodes.conflict : exitCodes.ok;
    }
    case 'rejected': {
      const { rejectionCodes } = await import('../../../machines/index.ts');
      throw new Refusal(`${what} was refused: ${result.code}`, {
        why: [rejectionCodes[result.code], withPublicIds(result.detail)].filter((part) => part !== '').join(' '),
        todo: result.code === 'GateNotOpen' ? `forgeyard run explain ${run}` : todoFor(id, what),
        exitCode: exitCodeOfRejection(result.code),
      });
    }
    default:
      return result satisfies never;
  }
}

function standing(reply: Extract<CommandResult, { outcome: 'accepted' }>['reply']): {
  state?: string;
  intent?: string | null;
} {
  switch (reply.kind) {
    case 'run':
    case 'job':
      return { state: reply.state, intent: reply.intent };
    case 'gate':
      return { state: reply.state };
    case 'directive':
    case 'none':
      return {};
    default:
      return reply satisfies never;
  }
}

function standingText(result: Extract<CommandResult, { outcome: 'accepted' | 'no-op' }>): string {
  const { state, intent } = standing(result.reply);
  return `${state ?? 'done'}${intent ? ` (${intent} requested)` : ''}`;
}

function todoFor(id: string, what: string): string {
  const kind = id.slice(0, id.indexOf('_'));
  return what === 'approve' || what === 'reject' ? 'forgeyard gate list' : `forgeyard ${kind} explain ${id}`;
}
