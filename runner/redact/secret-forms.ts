/**
 * The byte sequences that give a secret away: itself, its lines where it has several, and the two
 * encodings tools print credentials in without being asked.
 */

/** Shorter lines of a multi-line secret (`}`, `--`) are ordinary text and would blank the log. */
const lineCharsMin = 4;
/** Shorter values have encodings so short that they would be found everywhere. */
const encodedCharsMin = 8;

export function secretForms(values: readonly string[]): readonly Uint8Array[] {
  const forms = new Set<string>();
  for (const value of values) {
    forms.add(value);
    const lines = value.split(/\r?\n/);
    if (lines.length > 1) for (const line of lines) if (line.trim().length >= lineCharsMin) forms.add(line);
    if (value.length >= encodedCharsMin) {
      forms.add(Buffer.from(value).toString('base64'));
      forms.add(Buffer.from(value).toString('base64url'));
      forms.add(encodeURIComponent(value.toWellFormed()));
    }
  }
  return [...forms].map((form) => Buffer.from(form));
}
