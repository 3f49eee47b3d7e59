/** Commands of a person on a store that another process may be hosting: the services, without loops and recovery. */
import type { Runtime } from '../../actors/index.ts';
import { createRuntime } from '../../actors/index.ts';
import type { Store } from '../../store/index.ts';
import { runtimePorts } from './ports.ts';

export function createOperator(store: Store, report: (where: string, error: unknown) => void): Runtime {
  return createRuntime({ ...runtimePorts(store), report });
}
