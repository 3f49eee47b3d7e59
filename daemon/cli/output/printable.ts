/** Names and messages come from plans and processes: what would move the cursor or change colours is shown as a dot. */
export function printable(text: string): string {
  return text.replace(/\r?\n|\t/g, ' ').replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '·');
}

export function shortened(text: string, widthMax: number): string {
  const characters = [...text];
  return characters.length <= widthMax ? text : `${characters.slice(0, Math.max(0, widthMax - 1)).join('')}…`;
}
