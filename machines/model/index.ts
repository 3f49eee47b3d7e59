/** The vocabulary alone: for those who store or show rows and have no use for the charts (which take a while to load). */
export * from './check-rows.ts';
export * from './codes.ts';
export * from './commands.ts';
export * from './decision.ts';
export * from './facts.ts';
export * from './failure-class.ts';
export * from './ids.ts';
export * from './rows.ts';
export * from './states.ts';
