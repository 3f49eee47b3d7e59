/**
 * The Informal Trace Format: states of a TLA+ behaviour as JSON, the exchange format between recorded runs, model
 * checkers and people. Numbers, strings, booleans, sequences and records stand for themselves; what JSON lacks is
 * tagged: `#bigint`, `#set`, `#map`, `#tup`.
 */
import { z } from 'zod';

/** A TLA+ value in TypeScript. */
export type TlaValue = string | boolean | bigint | readonly TlaValue[] | TlaSet | TlaMap | TlaTuple | TlaRecord;
export interface TlaSet {
  readonly kind: 'set';
  readonly members: readonly TlaValue[];
}
export interface TlaMap {
  readonly kind: 'map';
  readonly entries: readonly (readonly [TlaValue, TlaValue])[];
}
export interface TlaTuple {
  readonly kind: 'tuple';
  readonly items: readonly TlaValue[];
}
export interface TlaRecord {
  readonly kind: 'record';
  readonly fields: Readonly<Record<string, TlaValue>>;
}

export interface ItfTrace {
  readonly variables: readonly string[];
  readonly states: readonly Readonly<Record<string, TlaValue>>[];
}

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export function encodeItfValue(value: TlaValue): Json {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return { '#bigint': value.toString() };
  if (isSequence(value)) return value.map(encodeItfValue);
  switch (value.kind) {
    case 'set':
      return { '#set': value.members.map(encodeItfValue) };
    case 'map':
      return { '#map': value.entries.map(([key, mapped]) => [encodeItfValue(key), encodeItfValue(mapped)]) };
    case 'tuple':
      return { '#tup': value.items.map(encodeItfValue) };
    case 'record':
      return Object.fromEntries(Object.entries(value.fields).map(([name, field]) => [name, encodeItfValue(field)]));
  }
}

const isSequence = (value: Exclude<TlaValue, string | boolean | bigint>): value is readonly TlaValue[] =>
  Array.isArray(value);

/** @throws Error naming the place of a value that is no ITF. */
export function decodeItfValue(value: unknown, where = '$'): TlaValue {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new Error(`${where}: ${value} is no whole number`);
    return BigInt(value);
  }
  if (Array.isArray(value)) return value.map((one, at) => decodeItfValue(one, `${where}[${at}]`));
  if (typeof value !== 'object' || value === null)
    throw new Error(`${where}: ITF has no ${value === null ? 'null' : typeof value}`);
  return decodeTagged(new Map(Object.entries(value)), where);
}

function decodeTagged(fields: ReadonlyMap<string, unknown>, where: string): TlaValue {
  const [only] = fields.keys();
  if (fields.size === 1 && only?.startsWith('#') === true) {
    const tagged = fields.get(only);
    switch (only) {
      case '#bigint':
        return decodeBigInt(tagged, where);
      case '#set':
        return {
          kind: 'set',
          members: list(tagged, where).map((one, at) => decodeItfValue(one, `${where}.#set[${at}]`)),
        };
      case '#tup':
        return {
          kind: 'tuple',
          items: list(tagged, where).map((one, at) => decodeItfValue(one, `${where}.#tup[${at}]`)),
        };
      case '#map':
        return { kind: 'map', entries: list(tagged, where).map((one, at) => decodePair(one, `${where}.#map[${at}]`)) };
      default:
        throw new Error(`${where}: unknown tag ${only}`);
    }
  }
  return {
    kind: 'record',
    fields: Object.fromEntries([...fields].map(([name, field]) => [name, decodeItfValue(field, `${where}.${name}`)])),
  };
}

function decodeBigInt(tagged: unknown, where: string): bigint {
  if (typeof tagged !== 'string' || !/^-?\d+$/.test(tagged))
    throw new Error(`${where}: #bigint needs a string of digits`);
  return BigInt(tagged);
}

function list(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${where}: the tag needs an array`);
  return value;
}

function decodePair(value: unknown, where: string): readonly [TlaValue, TlaValue] {
  const [key, mapped, ...more] = list(value, where);
  if (mapped === undefined || more.length > 0) throw new Error(`${where}: a map entry is [key, value]`);
  return [decodeItfValue(key, where), decodeItfValue(mapped, where)];
}

const traceSchema = z.looseObject({ vars: z.array(z.string()), states: z.array(z.record(z.string(), z.unknown())) });

/** A whole trace as JSON; `#meta` describes it, states are numbered. */
export function writeItf(trace: ItfTrace, description: string): string {
  const states = trace.states.map((state, index) => ({
    '#meta': { index },
    ...Object.fromEntries(trace.variables.map((name) => [name, encodeItfValue(variableOf(state, name, index))])),
  }));
  return `${JSON.stringify({ '#meta': { format: 'ITF', description }, vars: trace.variables, states }, null, 1)}\n`;
}

function variableOf(state: ItfTrace['states'][number], name: string, index: number): TlaValue {
  const value = state[name];
  if (value === undefined) throw new Error(`state ${index} has no ${name}`);
  return value;
}

/** @throws Error when the text is no ITF trace, naming the place. */
export function readItf(text: string): ItfTrace {
  const { vars, states } = traceSchema.parse(JSON.parse(text));
  return {
    variables: vars,
    states: states.map((state, index) =>
      Object.fromEntries(
        vars.map((name) => {
          if (!(name in state)) throw new Error(`state ${index} has no ${name}`);
          return [name, decodeItfValue(state[name], `states[${index}].${name}`)];
        }),
      ),
    ),
  };
}
