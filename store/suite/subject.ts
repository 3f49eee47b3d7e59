/** What the suite is given: a way to make a store it can stop at named points, with a clock it can set. */
import type { Store, StoreClock, StoreHook } from '../contract.ts';

/** The test runner's functions, passed in so that nothing shipped depends on a test runner. */
export interface SuiteRunner {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
  expect(actual: unknown): SuiteExpectation;
}

export interface SuiteExpectation {
  toBe(expected: unknown): void;
  toEqual(expected: unknown): void;
  toMatchObject(expected: object): void;
  readonly rejects: { toThrow(expected?: string | RegExp): Promise<void> };
}

export interface SuiteEnvironment {
  readonly clock: StoreClock;
  readonly hook: StoreHook;
}

export interface MakeStore {
  /** A store with nothing in it. */
  open(environment: SuiteEnvironment): Promise<Store>;
  /** Where the store outlives its handle: the same contents through a new one, as another process would see them. */
  reopen?(environment: SuiteEnvironment): Promise<Store>;
  /** Called after each test, when every handle is closed. */
  remove?(): Promise<void>;
}
