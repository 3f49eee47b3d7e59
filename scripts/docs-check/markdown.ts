/** The little of Markdown that the checks need, by line. */
export interface Link {
  readonly line: number;
  readonly target: string;
}

const fence = /^\s*(```|~~~)/;

/** Lines with code fences blanked, so that an example in one is no link. */
function proseLines(text: string): readonly string[] {
  let inside = false;
  return text.split('\n').map((line) => {
    if (fence.test(line)) {
      inside = !inside;
      return '';
    }
    return inside ? '' : line;
  });
}

export function links(text: string): readonly Link[] {
  return proseLines(text).flatMap((line, index) =>
    [...line.replace(/`[^`]*`/g, '').matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)].map((match) => ({
      line: index + 1,
      target: match[1] ?? '',
    })),
  );
}

/** The anchors a hosting site makes of headings: lower case, punctuation dropped, blanks to hyphens, repeats numbered. */
export function anchors(text: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const found = new Set<string>();
  for (const line of proseLines(text)) {
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const repeats = seen.get(slug) ?? 0;
    seen.set(slug, repeats + 1);
    found.add(repeats === 0 ? slug : `${slug}-${repeats}`);
  }
  for (const [, id] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) if (id !== undefined) found.add(id);
  return found;
}

/** npm scripts a text tells its reader to run. */
export function npmScripts(text: string): readonly Link[] {
  return text.split('\n').flatMap((line, index) =>
    [...line.matchAll(/\bnpm (?:run ([a-z][\w:-]*)|(test|start))\b/g)].map((match) => ({
      line: index + 1,
      target: match[1] ?? match[2] ?? '',
    })),
  );
}

/** Commands of ours a text shows: the first words after `forgeyard`, up to the first that is no plain word. */
export function ownCommands(text: string): readonly { readonly line: number; readonly words: readonly string[] }[] {
  return text.split('\n').flatMap((line, index) =>
    [...line.matchAll(/(?:^\s*\$?\s*|`|&& )(?:npx )?forgeyard((?: [a-z][a-z-]*(?![\w./=@]))+)/g)].map((match) => ({
      line: index + 1,
      words: (match[1] ?? '').trim().split(' '),
    })),
  );
}
