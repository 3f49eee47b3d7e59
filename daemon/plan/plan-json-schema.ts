import { z } from 'zod';
import { planFileSchema } from '../../machines/plan/index.ts';

/** JSON Schema of plan files for editors. What goes beyond shape (names, circles, bounds) is checked by `plan check`. */
export function planJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(planFileSchema, { io: 'input', reused: 'inline' }) };
}
