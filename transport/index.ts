export type { ConnectThread, RunnerTransport, ThreadEndpoint, Unsubscribe } from './contract.ts';
export { TransportError } from './contract.ts';
