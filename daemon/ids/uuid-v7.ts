/** UUIDv7: 48 bits of milliseconds, then 74 random bits. Ids made in one millisecond keep their order. */
export interface UuidSource {
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

const randomBits = 74n;
const randomSpace = 1n << randomBits;
/** The step between two ids of one millisecond: large enough that the next one cannot be guessed. */
const stepBytes = 4;

export function createUuidV7(source: UuidSource): () => string {
  let lastMs = -1;
  let lastRandom = 0n;
  return () => {
    // A clock that is set back must not make ids that sort before earlier ones.
    let ms = Math.max(source.now(), lastMs);
    let random: bigint;
    if (ms === lastMs) {
      random = lastRandom + 1n + bigintOf(source.randomBytes(stepBytes));
      if (random >= randomSpace) {
        ms += 1;
        random = bigintOf(source.randomBytes(10)) % (randomSpace >> 1n);
      }
    } else random = bigintOf(source.randomBytes(10)) % (randomSpace >> 1n);
    lastMs = ms;
    lastRandom = random;
    return format(ms, random);
  };
}

function bigintOf(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}

function format(ms: number, random: bigint): string {
  const high = random >> 62n;
  const low = random & ((1n << 62n) - 1n);
  const value = (BigInt(ms) << 80n) | (0x7n << 76n) | (high << 64n) | (0b10n << 62n) | low;
  const hex = value.toString(16).padStart(32, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
