import { describe, expect, it } from 'vitest';
import { storeSuite } from '../suite/index.ts';
import { createMemoryStore } from './index.ts';

storeSuite({ describe, it, expect }, 'memory', { open: async (environment) => createMemoryStore(environment) });
