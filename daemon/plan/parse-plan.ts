/** The text of a plan becomes an executable plan, or a list of everything that is wrong with it, by position. */

import type { DocumentPath, ExecutablePlan, SourceSnapshot } from '../../machines/plan/index.ts';
import { compilePlan, planLimits } from '../../machines/plan/index.ts';
import { sha256Digest } from './digest.ts';
import { documentValue } from './document-value.ts';
import { lineStarts, offsetOfPath } from './locate.ts';
import type { LocatedProblem, LocatedWarning } from './located-notice.ts';
import { fileNotice, locator, sorted } from './located-notice.ts';
import type { PlanFormat } from './yaml-tree.ts';
import { parseTree } from './yaml-tree.ts';

export type ParsedPlan =
  | { readonly ok: true; readonly plan: ExecutablePlan; readonly warnings: readonly LocatedWarning[] }
  | { readonly ok: false; readonly problems: readonly LocatedProblem[] };

export interface ParseOptions {
  /** How the file is called in problems. */
  readonly file: string;
  readonly format: PlanFormat;
  readonly source?: SourceSnapshot;
}

const noSource: SourceSnapshot = { kind: 'directory', commit: null, dirty: false };

export function parsePlanText(written: string, options: ParseOptions): ParsedPlan {
  const text = written.startsWith('\ufeff') ? written.slice(1) : written;
  const { file } = options;
  const { value: bytesMax } = planLimits.fileBytesMax;
  if (Buffer.byteLength(text) > bytesMax)
    return refused(file, [fileNotice(file, 'FileTooLarge', `larger than ${bytesMax} bytes`)]);

  const locate = locator(file, lineStarts(text));
  const tree = parseTree(text, options.format);
  if (!tree.ok) return refused(file, tree.problems.map(locate));
  const document = documentValue(tree.root);
  const textProblems = document.problems.map(locate);
  if (document.isBomb) return refused(file, textProblems);

  const offsetAt = (path: DocumentPath, code: string) =>
    offsetOfPath(tree.root, path, { targets: document.targets, code });
  const compiled = compilePlan(document.value, { digest: sha256Digest, source: options.source ?? noSource });
  if (!compiled.ok) {
    const planProblems = compiled.problems.map((found) =>
      locate({ ...found, offset: offsetAt(found.path, found.code) }),
    );
    return refused(file, [...textProblems, ...planProblems]);
  }
  if (textProblems.length > 0) return refused(file, textProblems);
  const warnings = compiled.warnings.map((found) => locate({ ...found, offset: offsetAt(found.path, found.code) }));
  return { ok: true, plan: compiled.plan, warnings: sorted(warnings) };
}

function refused(file: string, problems: readonly LocatedProblem[]): ParsedPlan {
  const { value } = planLimits.problemsMax;
  const known = sorted(problems);
  if (known.length <= value + 1) return { ok: false, problems: known };
  const rest = `${known.length - value} further problems are not shown`;
  return { ok: false, problems: [...known.slice(0, value), fileNotice(file, 'TooManyProblems', rest)] };
}
