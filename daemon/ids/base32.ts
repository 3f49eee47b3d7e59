/** Crockford's base 32 of a UUID: 26 characters, no letters that look like digits, sorts like the UUID. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Characters of a whole id; the first one holds three bits. */
export const encodedLength = 26;
const bitsOfUuid = 128;

export const isUuid = (text: string): boolean => uuidPattern.test(text);

export function encodeUuid(uuid: string): string {
  if (!isUuid(uuid)) throw new TypeError(`not a lower-case UUID: ${JSON.stringify(uuid)}`);
  let rest = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let text = '';
  for (let at = 0; at < encodedLength; at += 1) {
    text = `${alphabet.charAt(Number(rest & 31n))}${text}`;
    rest >>= 5n;
  }
  return text;
}

/** As people type it: any case, `O` for 0, `I` and `L` for 1. Null when it can be the beginning of no id. */
export function normalizedPrefix(text: string): string | null {
  const normal = text.toLowerCase().replace(/[il]/g, '1').replaceAll('o', '0');
  const isId = normal.length > 0 && normal.length <= encodedLength && [...normal].every((c) => alphabet.includes(c));
  return isId && '01234567'.includes(normal.charAt(0)) ? normal : null;
}

/** The beginning that every UUID with this (normalized) prefix has in common, with its hyphens. */
export function uuidPrefix(prefix: string): string {
  let value = 0n;
  for (const character of prefix) value = (value << 5n) | BigInt(alphabet.indexOf(character));
  // 26 characters hold 130 bits: the two highest are always zero and belong to no UUID.
  const bits = prefix.length * 5 - (encodedLength * 5 - bitsOfUuid);
  const digits = Math.floor(bits / 4);
  if (digits <= 0) return '';
  const hex = (value >> BigInt(bits - digits * 4)).toString(16).padStart(digits, '0');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
    .filter((part) => part !== '')
    .join('-');
}
