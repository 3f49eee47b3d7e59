/** A plan from a file, or everything that is wrong with it on stderr. */
import { resolve } from 'node:path';
import type { ExecutablePlan } from '../../../machines/index.ts';
import type { LocatedNotice } from '../../plan/index.ts';
import { readPlanFile, renderProblems } from '../../plan/index.ts';
import { colorPaint } from '../output/paint.ts';
import type { Terminal } from '../terminal.ts';

/** Null when it has problems; they have been shown. */
export async function readPlan(terminal: Terminal, path: string): Promise<ExecutablePlan | null> {
  const read = await readPlanFile(resolve(terminal.cwd, path));
  const color = terminal.errorPaint === colorPaint;
  if (read.ok) {
    if (read.warnings.length > 0)
      terminal.progress(renderProblems(named(read.warnings, path), { text: read.text, color }));
    return read.plan;
  }
  terminal.note(renderProblems(named(read.problems, path), { text: read.text, color }));
  const count = read.problems.length;
  terminal.note(`error: the plan ${path} has ${count === 1 ? 'a problem' : `${count} problems`}; nothing was started`);
  return null;
}

/** Called as the user called it, not by the path it was resolved to. */
export function named(notices: readonly LocatedNotice<string>[], file: string): readonly LocatedNotice<string>[] {
  return notices.map((notice) => ({ ...notice, file }));
}
