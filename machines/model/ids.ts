/**
 * Identities. Every id is a lower-case UUID string inside the program (UUIDv7 where we make it),
 * stored as text or uuid, and shown with a prefix (see daemon/ids). Brands keep a job id
 * from being passed where an attempt id belongs.
 */
declare const brand: unique symbol;
export type Brand<T, B extends string> = T & { readonly [brand]: B };

export type RunId = Brand<string, 'RunId'>;
export type JobId = Brand<string, 'JobId'>;
export type GateId = Brand<string, 'GateId'>;
export type AttemptId = Brand<string, 'AttemptId'>;
export type LeaseId = Brand<string, 'LeaseId'>;
export type RunnerId = Brand<string, 'RunnerId'>;
/** One life of one agent process (000 §264): a restarted agent is a new session. */
export type SessionId = Brand<string, 'SessionId'>;
/** Identity of one command or runner message; receipts are kept by it (000 §185). */
export type MessageId = Brand<string, 'MessageId'>;
export type EventId = Brand<string, 'EventId'>;
export type CorrelationId = Brand<string, 'CorrelationId'>;
/** `sha256:` + 64 lower-case hex digits. */
export type Digest = Brand<string, 'Digest'>;
/** The name of a node (job or gate) in the plan, unique in the run; a matrix child is `build[os=linux,node=24]`. */
export type NodeName = Brand<string, 'NodeName'>;
/** Milliseconds since the Unix epoch, by the store's clock. */
export type Timestamp = number;
