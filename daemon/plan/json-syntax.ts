/**
 * Where a text stops being JSON. The tree itself comes from the YAML parser, which knows positions and
 * reads all of JSON, but also much that is none; and the errors of `JSON.parse` often have no position.
 * Control characters other than tab and line break have been refused before.
 */
const tokenPattern =
  /[\t\n\r ]*(?:(?<string>"(?:[^"\\\t\n\r]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(?<scalar>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|(?<mark>[{}[\],:]))/y;

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or the end of the list or map' | 'nothing more';

export interface JsonSyntaxError {
  readonly offset: number;
  readonly message: string;
}

/** Null when the whole text is one JSON value. */
export function findJsonError(text: string): JsonSyntaxError | null {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let offset = 0;
  for (;;) {
    tokenPattern.lastIndex = offset;
    const groups = tokenPattern.exec(text)?.groups;
    if (groups === undefined) break;
    const start = tokenPattern.lastIndex - (groups.string ?? groups.scalar ?? groups.mark ?? '').length;
    const next = advance(expected, groups, open);
    if (next === null) return { offset: start, message: `expected ${expected}` };
    expected = next;
    offset = tokenPattern.lastIndex;
  }
  const rest = text.slice(offset).search(/[^\t\n\r ]/);
  if (rest === -1 && expected === 'nothing more') return null;
  return { offset: rest === -1 ? text.length : offset + rest, message: `expected ${expected}` };
}

function advance(expected: Expected, token: Record<string, string | undefined>, open: ('{' | '[')[]): Expected | null {
  const isValueDue = expected === 'value' || expected === 'value or ]';
  const isKeyDue = expected === 'key' || expected === 'key or }';
  if (token.string !== undefined && isKeyDue) return ':';
  if (token.string !== undefined || token.scalar !== undefined) return isValueDue ? afterValue(open) : null;
  switch (token.mark) {
    case '{':
      if (!isValueDue) return null;
      open.push('{');
      return 'key or }';
    case '[':
      if (!isValueDue) return null;
      open.push('[');
      return 'value or ]';
    case '}':
      return closes(expected, 'key or }') && open.pop() === '{' ? afterValue(open) : null;
    case ']':
      return closes(expected, 'value or ]') && open.pop() === '[' ? afterValue(open) : null;
    case ',':
      if (expected !== ', or the end of the list or map') return null;
      return open.at(-1) === '{' ? 'key' : 'value';
    case ':':
      return expected === ':' ? 'value' : null;
    default:
      return null;
  }
}

function closes(expected: Expected, whenEmpty: Expected): boolean {
  return expected === whenEmpty || expected === ', or the end of the list or map';
}

function afterValue(open: readonly string[]): Expected {
  return open.length === 0 ? 'nothing more' : ', or the end of the list or map';
}
