export type { ChooseFault, FaultClock, FaultOptions, FaultRates, MessageFault } from './faults.ts';
export { seededFaults, withFaults } from './faults.ts';
export type { HandleRequest, MemoryLink } from './memory-transport.ts';
export { createMemoryLink } from './memory-transport.ts';
export type { PortServer } from './port-transport.ts';
export { connectPort, servePort } from './port-transport.ts';
