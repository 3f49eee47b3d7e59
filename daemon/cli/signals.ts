/** Ctrl-C once asks, twice leaves; SIGTERM and SIGHUP leave. Leaving loses nothing: the run can be resumed. */
export type LeaveSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export interface SignalActions {
  /** The first Ctrl-C. */
  readonly onInterrupt: () => void;
  readonly onLeave: (signal: LeaveSignal) => void;
}

export function watchSignals(process: NodeJS.Process, { onInterrupt, onLeave }: SignalActions): () => void {
  let interrupted = false;
  const interrupt = (): void => {
    if (interrupted) onLeave('SIGINT');
    else onInterrupt();
    interrupted = true;
  };
  const terminate = (): void => onLeave('SIGTERM');
  const hangUp = (): void => onLeave('SIGHUP');
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', terminate);
  process.on('SIGHUP', hangUp);
  return () => {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', terminate);
    process.off('SIGHUP', hangUp);
  };
}

export const leaveExitCode = (signal: LeaveSignal): 130 | 143 => (signal === 'SIGINT' ? 130 : 143);
