/**
 * One text for one value: keys sorted by code unit, no white space, so that equal values have equal
 * digests whatever order they were written in (000 §181).
 *
 * @throws TypeError on anything JSON cannot hold: the caller built a wrong value, no input is judged here.
 */
export function canonicalJson(value: unknown): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new TypeError('canonical JSON: a text with half a surrogate pair');
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`canonical JSON: ${value} is no JSON number`);
      return JSON.stringify(value);
    case 'object':
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value);
    default:
      throw new TypeError(`canonical JSON: a ${typeof value} is no JSON value`);
  }
}

function canonicalArray(values: readonly unknown[]): string {
  let text = '[';
  // By index, so that a hole is seen as undefined and refused.
  for (let index = 0; index < values.length; index += 1) {
    text += index === 0 ? canonicalJson(values[index]) : `,${canonicalJson(values[index])}`;
  }
  return `${text}]`;
}

function canonicalObject(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError('canonical JSON: only plain objects are JSON values');
  }
  const entries = Object.entries(value);
  if (entries.length > 1) entries.sort(byKey);
  let text = '{';
  for (const [key, entry] of entries) {
    text += `${text === '{' ? '' : ','}${canonicalJson(key)}:${canonicalJson(entry)}`;
  }
  return `${text}}`;
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
