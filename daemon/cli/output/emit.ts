/** One answer in the format that was asked for. `data` is the interface; the table is for people. */
import type { Terminal } from '../terminal.ts';

export interface Answer {
  readonly data: unknown;
  /** Made only when it is shown. */
  readonly table: () => string;
}

export async function emit(terminal: Terminal, { data, table }: Answer): Promise<void> {
  switch (terminal.format) {
    case 'table': {
      const text = table();
      if (text !== '') terminal.out(text);
      return;
    }
    case 'json':
      terminal.out(JSON.stringify(data, null, 2));
      return;
    case 'jsonl':
      for (const item of Array.isArray(data) ? data : [data]) terminal.out(JSON.stringify(item));
      return;
    case 'yaml': {
      const { stringify } = await import('yaml');
      terminal.out(stringify(data).trimEnd());
      return;
    }
    default:
      terminal.format satisfies never;
  }
}
