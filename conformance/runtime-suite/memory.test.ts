import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../store/index.ts';
import { runtimeSuite } from './index.ts';

runtimeSuite({ describe, it, expect }, 'memory', {
  open: async ({ clock, hook }) => createMemoryStore({ clock, hook }),
});
