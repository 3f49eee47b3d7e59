/** The size of a terminal. Terminals of CI systems and containers often say 0, which is no size but an unknown one. */
export interface Sized {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

export function windowOf({ columns, rows }: Sized): { readonly columns: number; readonly rows: number } {
  return { columns: known(columns) ?? 80, rows: known(rows) ?? 24 };
}

const known = (size: number | undefined): number | null => (size === undefined || size <= 0 ? null : size);
