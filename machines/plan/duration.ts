/** Durations as people write them: `500ms`, `90s`, `1.5h`, or a whole number of milliseconds. */
const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export const durationPattern = '^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$';
const durationText = /^(?<amount>[0-9]+(?:\.[0-9]+)?)(?<unit>ms|s|m|h|d)$/;

function isUnit(unit: string): unit is keyof typeof unitMs {
  return Object.hasOwn(unitMs, unit);
}

/** Milliseconds, or null when the text is no duration. The result may be 0 or a fraction: bounds are the caller's. */
export function parseDuration(text: string): number | null {
  const groups = text.length > 32 ? undefined : durationText.exec(text)?.groups;
  if (groups === undefined) return null;
  const { amount = '', unit = '' } = groups;
  return isUnit(unit) ? Number(amount) * unitMs[unit] : null;
}

/** The shortest exact way to write a whole number of milliseconds. */
export function formatDuration(milliseconds: number): string {
  const units = ['d', 'h', 'm', 's'] as const;
  const unit = units.find((candidate) => milliseconds > 0 && milliseconds % unitMs[candidate] === 0) ?? 'ms';
  return `${milliseconds / unitMs[unit]}${unit}`;
}
