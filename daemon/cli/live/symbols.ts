/** One sign per state; letters where the terminal may not have the signs. */
export interface Symbols {
  readonly group: string;
  readonly asks: string;
  of(state: string): string;
}

const signs: Readonly<Record<string, readonly [unicode: string, ascii: string]>> = {
  Succeeded: ['✔', 'v'],
  Satisfied: ['✔', 'v'],
  Failed: ['✘', 'x'],
  TimedOut: ['✘', 'x'],
  Rejected: ['✘', 'x'],
  Cancelled: ['⊘', '-'],
  Skipped: ['⊘', '-'],
  Lost: ['↻', '~'],
  RetryWaiting: ['↻', '~'],
  Running: ['●', '*'],
  Preparing: ['●', '*'],
  UploadingOutputs: ['●', '*'],
  Leased: ['○', 'o'],
  Eligible: ['○', 'o'],
};

export function symbolsFor(env: Readonly<Record<string, string | undefined>>): Symbols {
  const unicode = /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
  return {
    group: unicode ? '▾' : '+',
    asks: unicode ? '▶' : '?',
    of: (state) => signs[state]?.[unicode ? 0 : 1] ?? (unicode ? '·' : '.'),
  };
}
