/** Faults between a program and its store. */
export { type Fault, type FaultPlan, faults, type SeededFaults, scriptedFaults, seededFaults } from './faults.ts';
export { faultyStore } from './faulty-store.ts';
