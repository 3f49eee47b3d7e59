import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Finding } from './finding.ts';
import { reportFindings } from './finding.ts';

export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

/** What a generator does with its files: writes them, or says which ones are not as they should be. */
export async function writeOrCheck(name: string, files: readonly GeneratedFile[], check: boolean): Promise<0 | 1> {
  const findings: Finding[] = [];
  for (const file of files) {
    if (check) {
      if ((await currentText(file.path)) !== file.text) {
        findings.push({ file: file.path, line: 0, message: `differs; run node scripts/${name}.ts` });
      }
      continue;
    }
    await mkdir(path.dirname(file.path), { recursive: true });
    await writeFile(file.path, file.text);
  }
  return reportFindings(name, findings, `${files.length} files ${check ? 'compared' : 'written'}`);
}

async function currentText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return null;
  }
}
