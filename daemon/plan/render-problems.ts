/** Problems for a terminal: where, what, the line itself, and what to do. */
import type { LocatedNotice } from './located-notice.ts';

export interface RenderOptions {
  /** The text of the file; without it the source is not shown. */
  readonly text: string | null;
  readonly color?: boolean;
}

const lineWidthMax = 120;

export function renderProblems(notices: readonly LocatedNotice<string>[], options: RenderOptions): string {
  const lines = options.text === null ? [] : options.text.replace(/^\ufeff/, '').split('\n');
  return notices
    .map((notice) => renderNotice(notice, lines[notice.line - 1] ?? null, options.color ?? false))
    .join('\n');
}

function renderNotice(notice: LocatedNotice<string>, source: string | null, isColored: boolean): string {
  const bold = isColored ? (words: string) => `\u001b[1m${words}\u001b[22m` : (words: string) => words;
  const dim = isColored ? (words: string) => `\u001b[2m${words}\u001b[22m` : (words: string) => words;
  const place = `${printable(notice.file)}:${notice.line}:${notice.column}`;
  const parts = [`${place} ${bold(notice.code)}: ${printable(notice.message)}`];
  if (source !== null) {
    const { line, column } = excerpt(source, notice);
    const margin = String(notice.line).padStart(6);
    parts.push(`${dim(`${margin} |`)} ${line}`, `${dim(`${' '.repeat(6)} |`)} ${' '.repeat(column)}^`);
  }
  if (notice.hint !== null) parts.push(`       hint: ${printable(notice.hint)}`);
  return parts.join('\n');
}

/** A part of a long line, around the column. What may be a secret is not shown. */
function excerpt(source: string, notice: LocatedNotice<string>): { line: string; column: number } {
  const column = notice.column - 1;
  const start = column > lineWidthMax - 20 ? column - 40 : 0;
  const visible = notice.code === 'SecretLiteral' ? `${source.slice(0, column)}***` : source;
  return { line: printable(visible.slice(start, start + lineWidthMax)), column: column - start };
}

/** The file may be anybody's: what would move the cursor or change colors is shown as a dot. */
function printable(words: string): string {
  return words.replace(/\t/g, ' ').replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '·');
}
