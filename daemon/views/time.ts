/** Times for people; machines get ISO 8601 and milliseconds. */
export const isoTime = (at: number): string => new Date(at).toISOString();
export const isoTimeOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at));

/** `0.4s`, `12s`, `3m 05s`, `2h 07m`, `3d 4h`. */
export function durationText(ms: number): string {
  const positive = Math.max(0, ms);
  if (positive < 10_000) return `${(Math.floor(positive / 100) / 10).toFixed(1)}s`;
  const seconds = Math.floor(positive / 1_000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${two(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ${two(minutes % 60)}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** `2026-11-30 21:15:03`, local. */
export function clockText(at: number): string {
  const time = new Date(at);
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-');
  return `${day} ${timeOfDay(at)}`;
}

export function timeOfDay(at: number): string {
  const time = new Date(at);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
}

export const agoText = (at: number, now: number): string => `${durationText(now - at)} ago`;

const two = (number: number): string => String(number).padStart(2, '0');
