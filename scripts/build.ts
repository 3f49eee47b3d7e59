/**
 * `npm run build`: TypeScript to dist/, and beside it the files the code reads at run time.
 * It works from a fresh clone and from a git dependency, so it needs nothing but node_modules.
 */
import { spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { projectFiles } from './lib/project-files.ts';

const shipped = '{machines,store,actors,runner,transport,spec,conformance,daemon}';
const readAtRunTime = [`${shipped}/**/*.{sql,json,txt}`];

await rm('dist', { recursive: true, force: true });
const compiler = path.resolve('node_modules/typescript/bin/tsc');
const compiled = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (compiled.status === 0) {
  for (const file of await projectFiles('.', readAtRunTime)) {
    const target = path.join('dist', file);
    await mkdir(path.dirname(target), { recursive: true });
    await copyFile(file, target);
  }
  await chmod('dist/daemon/cli/main.js', 0o755);
}
process.exitCode = compiled.status ?? 1;
