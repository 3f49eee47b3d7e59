import { parseArgs } from 'node:util';

export type ParsedOptions =
  | { readonly kind: 'options'; readonly kills: number; readonly seed: number }
  | { readonly kind: 'wrong'; readonly message: string };

const killsMax = 100_000;
const usage = `usage: kill-loop [--kills N (1 to ${killsMax})] [--seed S (whole number)]`;

export function parseOptions(args: readonly string[], seedDefault: number): ParsedOptions {
  try {
    const { values } = parseArgs({ args: [...args], options: { kills: { type: 'string' }, seed: { type: 'string' } } });
    const kills = wholeNumber(values.kills ?? '200', 1, killsMax);
    const seed = wholeNumber(values.seed ?? String(seedDefault), 0, 2 ** 31 - 1);
    if (kills === null) return { kind: 'wrong', message: `--kills ${values.kills} is not a number of kills; ${usage}` };
    if (seed === null) return { kind: 'wrong', message: `--seed ${values.seed} is not a seed; ${usage}` };
    return { kind: 'options', kills, seed };
  } catch (error) {
    return { kind: 'wrong', message: `${error instanceof Error ? error.message : String(error)}; ${usage}` };
  }
}

function wholeNumber(text: string, from: number, to: number): number | null {
  const value = Number(text);
  return /^\d{1,10}$/.test(text) && value >= from && value <= to ? value : null;
}
