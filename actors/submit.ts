/**
 * The way of every command that somebody asks for: authorise, then the run's actor, which decides, commits and only
 * then answers (architecture: life of a command). Parsing happened at the edge; nothing after the commit changes state.
 */
import type { Command, EventId, RunId } from '../machines/index.ts';
import type { ActorRef, CommandOptions, CommandResult, Permission } from './api.ts';
import { isAllowed } from './authorise.ts';
import type { Directory } from './directory.ts';
import type { Ports } from './ports.ts';

export interface Submission {
  readonly run: RunId;
  readonly command: Command;
  readonly permission: Permission;
  /** What the audit calls it; null for runner messages, whose facts name the runner. */
  readonly audit: { readonly action: string; readonly entity: string } | null;
  readonly options: CommandOptions;
}

export type Submit = (submission: Submission) => Promise<CommandResult>;

export function createSubmit(ports: Ports, directory: Directory): Submit {
  return async ({ run, command, permission, audit, options }) => {
    const { actor } = options;
    if (!isAllowed(actor, permission)) {
      await recordDenial(ports, actor, { action: audit?.action ?? command.type, run, entity: audit?.entity ?? run });
      return { outcome: 'rejected', code: 'NotAllowed', detail: `${actor.id} lacks ${permission}` };
    }
    return directory.actor(run).send({
      command,
      actor: actor.id,
      messageId: options.messageId ?? null,
      correlationId: null,
      causationId: null,
      audited: audit === null ? null : { ...audit, message: options.message ?? null },
      timer: null,
    });
  };
}

export async function recordDenial(
  ports: Pick<Ports, 'store' | 'ids'>,
  actor: ActorRef,
  what: { readonly action: string; readonly run: RunId | null; readonly entity: string },
): Promise<void> {
  await ports.store.appendAudit({
    id: ports.ids.uuid() as EventId,
    at: ports.store.now(),
    actor: actor.id,
    action: what.action,
    runId: what.run,
    entity: what.entity,
    outcome: 'denied',
    message: null,
  });
}
