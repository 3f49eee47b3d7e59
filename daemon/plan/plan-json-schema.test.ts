import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { planJsonSchema } from './plan-json-schema.ts';

const root = new URL('../../', import.meta.url);
const examples = readdirSync(new URL('examples/', root)).filter((name) => name.endsWith('.yaml'));
const validate = new Ajv2020({ strict: false, allErrors: true }).compile(planJsonSchema());

function documentOf(path: string): Record<string, unknown> {
  return parse(readFileSync(new URL(path, root), 'utf8'));
}

describe('JSON Schema of plans', () => {
  test('docs/plan.schema.json is the current one (rewritten by: vitest -u)', async () => {
    const text = `${JSON.stringify(planJsonSchema(), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../docs/plan.schema.json');
  });

  test.each(['forgeyard.yaml', ...examples.map((name) => `examples/${name}`)])('%s is valid', (path) => {
    validate(documentOf(path));
    expect(validate.errors).toBeNull();
  });

  test.each<[string, Record<string, unknown>]>([
    ['an unknown key', { deadlin: '1h' }],
    ['no duration', { deadline: 'soon' }],
    ['a job without steps', { jobs: { a: {} } }],
    ['an impossible condition', { jobs: { a: { steps: ['x'], needs: [{ job: 'b', condition: 'sucess' }] } } }],
    ['a name with a space', { jobs: { 'a b': { steps: ['x'] } } }],
  ])('%s is not', (_, change) => {
    expect(validate({ ...documentOf('examples/quickstart.yaml'), ...change })).toBe(false);
  });
});
