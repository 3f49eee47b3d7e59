/** What options and arguments must look like; the message says what was expected. */
import { InvalidArgumentError } from 'commander';

export function integerBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}

/** Bounds of labels in plans, which a label given here becomes part of. */
const labelsMax = 64;
const labelCharactersMax = 1_024;

export function label(text: string, earlier: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, key, value] = /^([A-Za-z_][\w.-]{0,99})=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined || key === '__proto__')
    throw new InvalidArgumentError('Write KEY=VALUE; a key has letters, digits, "_", "." and "-".');
  if (value.length > labelCharactersMax) throw new InvalidArgumentError(`At most ${labelCharactersMax} characters.`);
  const labels = { ...earlier, [key]: value };
  if (Object.keys(labels).length > labelsMax) throw new InvalidArgumentError(`At most ${labelsMax} labels.`);
  return labels;
}

export function capability(text: string, earlier: readonly string[] = []): readonly string[] {
  if (!/^[\w.:/+-]{1,128}$/.test(text))
    throw new InvalidArgumentError('Letters, digits and . : / + - only, e.g. gpu:a100.');
  if (earlier.length >= 60) throw new InvalidArgumentError('At most 60 capabilities.');
  return [...earlier, text];
}

export function requestId(text: string): string {
  if (/^[\x21-\x7e]{1,128}$/.test(text)) return text;
  throw new InvalidArgumentError('1 to 128 printable characters without blanks.');
}

/** `NAME=PROGRAM`, or `NAME=["PROGRAM","ARGUMENT",…]`: never a line for a shell. */
export function secretCommand(
  text: string,
  earlier: Readonly<Record<string, readonly string[]>> = {},
): Readonly<Record<string, readonly string[]>> {
  const [, name, command] = /^([A-Za-z_][\w.-]{0,99})=(.+)$/s.exec(text) ?? [];
  const argv = command === undefined ? null : argvOf(command);
  if (name === undefined || name === '__proto__' || argv === null)
    throw new InvalidArgumentError('Write NAME=PROGRAM or NAME=["PROGRAM","ARGUMENT"].');
  return { ...earlier, [name]: argv };
}

function argvOf(command: string): readonly string[] | null {
  if (!command.startsWith('[')) return [command];
  try {
    const parsed: unknown = JSON.parse(command);
    const isArgv = Array.isArray(parsed) && parsed.length > 0 && parsed.every((part) => typeof part === 'string');
    return isArgv ? parsed : null;
  } catch {
    return null;
  }
}

/** `90s`, `1h`, `7d`. */
export function duration(text: string): number {
  const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  if (amount !== undefined && (unit === 'ms' || unit === 's' || unit === 'm' || unit === 'h' || unit === 'd'))
    return Number(amount) * unitMs[unit];
  throw new InvalidArgumentError('Write a duration such as 90s, 1h or 7d.');
}

export function note(text: string): string {
  if (text.length <= 1_024) return text;
  throw new InvalidArgumentError('At most 1024 characters.');
}
