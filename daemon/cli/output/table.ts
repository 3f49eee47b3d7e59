/** Aligned columns. Cells are made printable here, so no caller can forget it; style is added after measuring. */
import type { Paint, Style } from './paint.ts';
import { printable, shortened } from './printable.ts';

export interface Cell {
  readonly text: string;
  readonly style?: Style;
}
export type Row = readonly (string | Cell)[];

export interface TableOptions {
  readonly head: readonly string[];
  readonly rows: readonly Row[];
  readonly paint: Paint;
  /** The last column is cut to fit; null where nobody sees a width. */
  readonly widthMax: number | null;
}

const gap = '  ';

export function renderTable({ head, rows, paint, widthMax }: TableOptions): string {
  const cells = rows.map((row) => row.map(toCell));
  const widths = head.map((title, at) => Math.max(title.length, ...cells.map((row) => row[at]?.text.length ?? 0)));
  const line = (row: readonly Cell[]): string => {
    let used = 0;
    return row
      .map(({ text, style }, at) => {
        const isLast = at === row.length - 1;
        const room = widthMax === null ? text.length : Math.max(8, widthMax - used);
        const shown = isLast ? shortened(text, room) : text;
        const padding = isLast ? '' : ' '.repeat((widths[at] ?? 0) - text.length);
        used += (widths[at] ?? 0) + gap.length;
        return (style === undefined ? shown : paint(style, shown)) + padding;
      })
      .join(gap)
      .trimEnd();
  };
  return [line(head.map((text) => ({ text, style: 'dim' }))), ...cells.map(line)].join('\n');
}

function toCell(cell: string | Cell): Cell {
  return typeof cell === 'string' ? { text: printable(cell) } : { ...cell, text: printable(cell.text) };
}

/** `name  value` lines for one thing; empty values are left out. */
export function renderFields(
  fields: readonly (readonly [name: string, value: string | Cell | null])[],
  paint: Paint,
): string {
  const shown = fields.filter(
    (field): field is readonly [string, string | Cell] => field[1] !== null && field[1] !== '',
  );
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown
    .map(([name, value]) => {
      const cell = toCell(value);
      const text = cell.style === undefined ? cell.text : paint(cell.style, cell.text);
      return `${paint('dim', name.padEnd(width))}${gap}${text}`;
    })
    .join('\n');
}
