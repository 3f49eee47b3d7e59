import { afterAll, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../store/index.ts';
import { faults } from '../faulty-store/index.ts';
import { stormSuite } from './index.ts';

const given = stormSuite(
  { describe, it, expect },
  'memory',
  { open: async ({ clock, hook }) => createMemoryStore({ clock, hook }) },
  1,
);

afterAll(() => {
  for (const fault of faults) expect((given.get(fault) ?? 0) > 50, `${fault} was rare`).toBe(true);
});
