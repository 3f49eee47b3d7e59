/** `npm run boundaries`: who may import whom, with the reason for each rule that is broken. */
import { checkBoundaries } from './boundaries/check.ts';
import { rules } from './boundaries/rules.ts';

const report = await checkBoundaries(process.cwd());
const reasons = new Map(rules.map((rule) => [rule.name, rule.comment]));

for (const { rule, from, to } of report.violations) {
  console.error(`${rule}: ${from} -> ${to}\n  ${reasons.get(rule) ?? ''}`);
}
for (const file of report.missed) console.error(`not cruised, so not judged: ${file}`);
console.log(`boundaries: ${report.cruised} modules, ${rules.length} rules, ${report.violations.length} violations`);
process.exitCode = report.violations.length + report.missed.length > 0 || report.cruised === 0 ? 1 : 0;
