/** `store check` and `store gc`. */
import type { ExitCode } from '../exit-codes.ts';
import { exitCodes } from '../exit-codes.ts';
import { emit } from '../output/emit.ts';
import { renderTable } from '../output/table.ts';
import type { Terminal } from '../terminal.ts';
import { withStore } from '../with-store.ts';

export async function storeCheck(terminal: Terminal): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store }) => {
    const { problems, runs, facts } = await store.check();
    await emit(terminal, {
      data: { ok: problems.length === 0, runs, facts, problems },
      table: () =>
        problems.length === 0
          ? `ok: ${runs} runs, ${facts} facts`
          : renderTable({
              head: ['CODE', 'ENTITY', 'PROBLEM'],
              rows: problems.map((problem) => [problem.code, problem.entity, problem.message]),
              paint: terminal.paint,
              widthMax: terminal.width,
            }),
    });
    if (problems.length === 0) return exitCodes.ok;
    terminal.note(`error: the store has ${problems.length} problems; keep a copy of it before anything else`);
    return exitCodes.trouble;
  });
}

export interface StoreGcOptions {
  readonly dryRun?: boolean;
  readonly olderThan: number;
}

/** Younger objects may belong to a completion that is on its way. */
const youngestMs = 60_000;

export async function storeGc(terminal: Terminal, options: StoreGcOptions): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store, places }) => {
    const { collectGarbage, createOutputStore } = await import('../../../runner/index.ts');
    const dryRun = options.dryRun === true;
    const collected = await collectGarbage(createOutputStore(places.outputs), {
      referenced: store.referencedDigests(),
      olderThanMs: Math.max(options.olderThan, youngestMs),
      now: Date.now,
      dryRun,
    });
    const { removed, bytes, kept, temporary } = collected;
    await emit(terminal, {
      data: { dryRun, removed, bytes, kept, temporary },
      table: () =>
        `${dryRun ? 'would remove' : 'removed'} ${removed.length} outputs (${bytes} bytes) and ${temporary} left-overs; kept ${kept}`,
    });
    return exitCodes.ok;
  });
}
