/**
 * `npm run package:check`: is what npm would publish usable? Packs dist/, unpacks it into an empty project that has our
 * dependencies and nothing else, imports every entry, compiles against its types and starts the bin.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { Finding } from './lib/finding.ts';
import { reportFindings } from './lib/finding.ts';

const manifestSchema = z.object({
  name: z.string(),
  exports: z.record(z.string(), z.unknown()),
  bin: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
});
const packed = z.union([
  z.array(z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })),
  z.unknown(),
]);
const unwanted = /\.test\.(js|d\.ts)$|^(scripts|bench|reports)\/|\.tsbuildinfo$/;

const manifest = manifestSchema.parse(JSON.parse(await readFile('package.json', 'utf8')));
const findings: Finding[] = [];
const blame = (message: string): void => {
  findings.push({ file: 'package.json', line: 0, message });
};

function run(command: string, args: readonly string[], cwd: string): string | null {
  const result = spawnSync(command, [...args], { cwd, encoding: 'utf8' });
  if (result.status === 0) return null;
  const output = `${result.stdout}${result.stderr}`.trim();
  // Of a stack trace only what went wrong; of anything else all of it.
  const errors = output.split('\n').filter((line) => /^\w*Error\b/.test(line));
  return (errors.length > 0 ? errors.join('\n') : output) || `exit code ${result.status}`;
}

/** Packs into `folder`; answers the unpacked package's path, or null. */
async function unpackInto(folder: string): Promise<string | null> {
  const pack = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    encoding: 'utf8',
  });
  const list = packed.parse(JSON.parse(pack.stdout));
  const archive = Array.isArray(list) ? list[0] : undefined;
  if (archive === undefined) {
    blame(`npm pack: ${pack.stderr}`);
    return null;
  }
  for (const { path: file } of archive.files) if (unwanted.test(file)) blame(`${file} would be published`);
  const target = path.join(folder, 'node_modules', manifest.name);
  await mkdir(target, { recursive: true });
  const tar = run('tar', ['-xzf', path.join(folder, archive.filename), '-C', target, '--strip-components=1'], folder);
  if (tar !== null) blame(`tar: ${tar}`);
  return target;
}

/** The dependencies a user gets, and no development package. */
async function linkDependencies(folder: string): Promise<void> {
  for (const name of [...Object.keys(manifest.dependencies), '@types/node']) {
    const link = path.join(folder, 'node_modules', name);
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(path.resolve('node_modules', name), link);
  }
}

async function tryEntries(folder: string): Promise<void> {
  const entries = Object.keys(manifest.exports).map((subpath) => path.posix.join(manifest.name, subpath));
  for (const entry of entries) {
    const failure = run(process.execPath, ['--input-type=module', '-e', `await import('${entry}')`], folder);
    if (failure !== null) blame(`import of ${entry} fails:\n${failure}`);
  }
  const lines = entries.map(
    (entry, index) => `import * as entry${index} from '${entry}';\nexport { entry${index} };\n`,
  );
  await writeFile(path.join(folder, 'user.ts'), lines.join(''));
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  const compiler = path.resolve('node_modules/typescript/bin/tsc');
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--types',
    'node',
  ];
  const failure = run(process.execPath, [compiler, ...options, 'user.ts'], folder);
  if (failure !== null) blame(`types of the entries:\n${failure}`);
}

const folder = await mkdtemp(path.join(tmpdir(), 'package-'));
try {
  const target = await unpackInto(folder);
  if (target !== null) {
    await linkDependencies(folder);
    await tryEntries(folder);
    for (const [name, file] of Object.entries(manifest.bin)) {
      const failure = run(process.execPath, [path.join(target, file), '--version'], folder);
      if (failure !== null) blame(`${name} --version fails:\n${failure}`);
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = reportFindings('package', findings, `${Object.keys(manifest.exports).length} entries`);
