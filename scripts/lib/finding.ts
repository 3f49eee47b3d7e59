/** One thing a check did not like; `line` starts at 1, 0 stands for the whole file. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Prints findings the way editors link them, then one closing line. Returns the exit code. */
export function reportFindings(name: string, findings: readonly Finding[], judged: string): 0 | 1 {
  for (const { file, line, message } of findings)
    console.error(line > 0 ? `${file}:${line}: ${message}` : `${file}: ${message}`);
  console.log(`${name}: ${judged}, ${findings.length} findings`);
  return findings.length === 0 ? 0 : 1;
}
