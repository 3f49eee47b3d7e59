/** Colours, or none. States have one colour everywhere. */
const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;
export type Style = keyof typeof codes;
export type Paint = (style: Style, text: string) => string;

export const plainPaint: Paint = (_style, text) => text;
export const colorPaint: Paint = (style, text) => {
  const [on, off] = codes[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
};

export interface ColorWish {
  readonly isTty: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--no-color`. */
  readonly refused: boolean;
}

/** NO_COLOR counts when it is set and not empty (no-color.org). */
export function wantsColor({ isTty, env, refused }: ColorWish): boolean {
  if (refused || (env.NO_COLOR ?? '') !== '') return false;
  return isTty && env.TERM !== 'dumb';
}

/** Loss and retries are no verdict on the workload: never red. */
const stateStyles: Readonly<Record<string, Style>> = {
  Succeeded: 'green',
  Satisfied: 'green',
  Failed: 'red',
  TimedOut: 'red',
  Rejected: 'red',
  Cancelled: 'yellow',
  Cancelling: 'yellow',
  Superseded: 'yellow',
  Lost: 'magenta',
  RetryWaiting: 'magenta',
  Running: 'blue',
  Preparing: 'blue',
  UploadingOutputs: 'blue',
  Leased: 'cyan',
  Eligible: 'cyan',
  Skipped: 'dim',
  Pending: 'dim',
  Queued: 'dim',
};

export const styleOfState = (state: string): Style => stateStyles[state] ?? 'bold';
