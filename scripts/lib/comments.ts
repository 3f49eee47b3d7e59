/** Source lines with comments blanked out, so that a rule named in prose is not taken for a breach of it. */
export function codeLines(text: string): readonly string[] {
  const blank = (comment: string): string => comment.replace(/[^\n]/g, ' ');
  return text
    .replace(/\/\*[\s\S]*?\*\//g, blank)
    .replace(/^\s*\/\/.*$/gm, blank)
    .replace(/\s\/\/ .*$/gm, blank)
    .split('\n');
}
