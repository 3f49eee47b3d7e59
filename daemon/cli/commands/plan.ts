/** `plan check` and `plan schema`. */
import { resolve } from 'node:path';
import type { LocatedNotice } from '../../plan/index.ts';
import { readPlanFile, renderProblems } from '../../plan/index.ts';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodes } from '../exit-codes.ts';
import { emit } from '../output/emit.ts';
import { colorPaint } from '../output/paint.ts';
import type { Terminal } from '../terminal.ts';
import { named } from './read-plan.ts';

interface CheckReport {
  readonly file: string;
  readonly ok: boolean;
  readonly project: string | null;
  readonly name: string | null;
  readonly jobs: number | null;
  readonly gates: number | null;
  readonly problems: readonly LocatedNotice<string>[];
  readonly warnings: readonly LocatedNotice<string>[];
}

export async function planCheck(terminal: Terminal, paths: readonly string[]): Promise<ExitCode> {
  const color = terminal.errorPaint === colorPaint;
  const reports: CheckReport[] = [];
  for (const path of paths) {
    const read = await readPlanFile(resolve(terminal.cwd, path));
    const notices: readonly LocatedNotice<string>[] = named(read.ok ? read.warnings : read.problems, path);
    if (notices.length > 0 && (!read.ok || !terminal.quiet))
      terminal.note(renderProblems(notices, { text: read.text, color }));
    reports.push({
      file: path,
      ok: read.ok,
      project: read.ok ? read.plan.project : null,
      name: read.ok ? read.plan.name : null,
      jobs: read.ok ? read.plan.nodes.filter((node) => node.kind === 'job').length : null,
      gates: read.ok ? read.plan.nodes.filter((node) => node.kind === 'gate').length : null,
      problems: read.ok ? [] : notices,
      warnings: read.ok ? notices : [],
    });
  }
  await emit(terminal, {
    data: reports.length === 1 ? reports[0] : reports,
    table: () =>
      reports
        .map(({ file, ok, jobs, gates, problems }) =>
          ok
            ? `${file}: ok, ${counted(jobs ?? 0, 'job')}, ${counted(gates ?? 0, 'gate')}`
            : `${file}: ${counted(problems.length, 'problem')}`,
        )
        .join('\n'),
  });
  return reports.every((report) => report.ok) ? exitCodes.ok : exitCodes.usage;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** JSON whatever the output format: that is what editors read. */
export async function planSchema(terminal: Terminal): Promise<ExitCode> {
  const { planJsonSchema } = await import('../../plan/index.ts');
  terminal.out(JSON.stringify(planJsonSchema(), null, 2));
  return exitCodes.ok;
}
