import { parseArgs } from 'node:util';

export interface HistoriesArguments {
  readonly runs: number;
  /** Null: drawn from the clock, and printed. */
  readonly seed: number | null;
  readonly path: string | null;
}

export const usage = `usage: npm run histories -- [--runs N] [--seed S] [--path P]
  --runs N   histories to try (default 20000)
  --seed S   where the search begins (default: another one each time)
  --path P   replay one failure, as printed by the run that found it`;

const runsMax = 10_000_000;

/** The arguments, or what is wrong with them. */
export function parseArguments(words: readonly string[]): HistoriesArguments | string {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: { runs: { type: 'string' }, seed: { type: 'string' }, path: { type: 'string' } },
      strict: true,
    });
    const runs = wholeNumber(values.runs ?? '20000', 1, runsMax);
    if (runs === null) return `--runs takes a whole number from 1 to ${runsMax}`;
    const seed = values.seed === undefined ? null : wholeNumber(values.seed, -(2 ** 31), 2 ** 31 - 1);
    if (values.seed !== undefined && seed === null) return '--seed takes a whole number of 32 bits';
    const path = values.path ?? null;
    if (path !== null && !/^\d+(:\d+)*$/.test(path)) return '--path takes numbers with colons between them';
    if (path !== null && seed === null) return '--path needs the --seed it belongs to';
    return { runs, seed, path };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function wholeNumber(text: string, min: number, max: number): number | null {
  if (!/^-?\d+$/.test(text)) return null;
  const value = Number(text);
  return value >= min && value <= max ? value : null;
}
