/** The exchange formats of the specification side. The TLA+ modules and their driver join here. */

export type { ItfTrace, TlaMap, TlaRecord, TlaSet, TlaTuple, TlaValue } from './itf.ts';
export { decodeItfValue, encodeItfValue, readItf, writeItf } from './itf.ts';
