import type { Deadline, GateId, JobId, LeaseId, TimerCommand } from '../../machines/index.ts';
import { idOf } from './ids.ts';

/** The command a due deadline issues. */
export function timerCommand(deadline: Deadline): TimerCommand {
  const job = idOf<JobId>(deadline.entity);
  switch (deadline.kind) {
    case 'run-deadline':
      return { type: 'ReachRunDeadline' };
    case 'queue':
      return { type: 'ReachQueueTimeout', job };
    case 'retry':
      return { type: 'ReachRetryTime', job };
    case 'offer':
      return { type: 'ExpireOffer', job, lease: leaseOf(deadline) };
    case 'lease':
      return { type: 'ExpireLease', job, lease: leaseOf(deadline) };
    case 'gate-expiry':
      return { type: 'ExpireGate', gate: idOf<GateId>(deadline.entity) };
    case 'preparation':
    case 'execution':
    case 'upload':
      if (deadline.attempt === null) throw new Error(`deadline ${deadline.key} names no attempt`);
      return { type: 'ReachPhaseTimeout', job, attempt: deadline.attempt, phase: deadline.kind };
  }
}

function leaseOf(deadline: Deadline): LeaseId {
  if (deadline.lease === null) throw new Error(`deadline ${deadline.key} names no lease`);
  return deadline.lease;
}
