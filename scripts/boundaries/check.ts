import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { cruise } from 'dependency-cruiser';
import { z } from 'zod';
import { projectFiles } from '../lib/project-files.ts';
import { rules, shippedRule } from './rules.ts';
import './teach-using.ts';

export interface BoundaryViolation {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

export interface BoundaryReport {
  readonly violations: readonly BoundaryViolation[];
  /** TypeScript files of the project that the cruise never opened: an unopened file breaks no rule. */
  readonly missed: readonly string[];
  readonly cruised: number;
}

const packageJson = z.object({ devDependencies: z.record(z.string(), z.string()).default({}) });

const cruiseResult = z.object({
  modules: z.array(z.object({ source: z.string() })),
  summary: z.object({
    violations: z.array(z.object({ from: z.string(), to: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});

/** Judges every TypeScript file below `root` by the boundary rules. */
export async function checkBoundaries(root: string): Promise<BoundaryReport> {
  const files = await projectFiles(root, ['**/*.ts']);
  const manifest = packageJson.parse(JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')));
  const dev = Object.keys(manifest.devDependencies);
  const forbidden = dev.length === 0 ? rules : [...rules, shippedRule(dev)];
  const { output } = await cruise(
    [...files],
    {
      baseDir: root,
      // The default parser needs the compiler API that TypeScript 7 no longer has; it would read nothing and pass.
      parser: 'swc',
      doNotFollow: { path: 'node_modules' },
      validate: true,
      ruleSet: { forbidden: forbidden.map((each) => ({ ...each })) },
    },
    {
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'types'],
    },
  );
  const result = cruiseResult.parse(output);
  const opened = new Set(result.modules.map((module) => module.source));
  return {
    violations: result.summary.violations.map(({ from, to, rule }) => ({ rule: rule.name, from, to })),
    missed: files.filter((file) => !opened.has(file)),
    cruised: files.filter((file) => opened.has(file)).length,
  };
}
