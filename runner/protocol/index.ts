export * from './codec.ts';
export * from './job-spec.ts';
export * from './messages.ts';
export * from './version.ts';
