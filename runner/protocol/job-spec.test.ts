import { describe, expect, expectTypeOf, test } from 'vitest';
import type { JobSpec } from '../../machines/index.ts';
import { jobSpec } from '../test-support/job-specs.ts';
import type { WireJobSpec } from './index.ts';
import { decodeRequest, encodeRequest, jobSpecSchema } from './index.ts';

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

describe('protocol: job spec', () => {
  test('000 §183 the wire form and the planner’s type are the same', () => {
    expectTypeOf<Frozen<WireJobSpec>>().toEqualTypeOf<Frozen<JobSpec>>();
  });

  test('000 §182 unknown fields are refused at every level', () => {
    const spec = jobSpec(['true']);
    expect(jobSpecSchema.safeParse(spec).success).toBe(true);
    expect(jobSpecSchema.safeParse({ ...spec, extra: 1 }).success).toBe(false);
    expect(jobSpecSchema.safeParse({ ...spec, timeouts: { ...spec.timeouts, extra: 1 } }).success).toBe(false);
    expect(jobSpecSchema.safeParse({ ...spec, steps: [{ ...spec.steps[0], extra: 1 }] }).success).toBe(false);
    expect(jobSpecSchema.safeParse({ ...spec, steps: [] }).success).toBe(false);
  });
});

describe('protocol: codec', () => {
  test('what is no message is refused with its place, never with its values', () => {
    expect(decodeRequest('{')).toEqual({ ok: false, problem: 'not JSON' });
    expect(decodeRequest('{"type":"shutdown"}')).toMatchObject({ ok: false });
    const wrong = decodeRequest(JSON.stringify({ version: 2, type: 'bye', messageId: 'm', runner: 'r', session: 's' }));
    expect(wrong).toMatchObject({ ok: false, problem: expect.stringContaining('version') });
    const secret = decodeRequest(JSON.stringify({ version: 1, type: 'bye', messageId: { secret: 'hunter2' } }));
    expect(JSON.stringify(secret)).not.toContain('hunter2');
  });

  test('encoding keeps only what the protocol names', () => {
    const bye = { version: 1, type: 'bye', messageId: 'm', runner: 'r', session: 's' } as const;
    const encoded = encodeRequest({ ...bye, ...{ extra: 'x' } });
    expect(encoded.ok && JSON.parse(encoded.message)).toEqual(bye);
  });
});
