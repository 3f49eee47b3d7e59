/** The things of an attempt on this machine: log, workspace, processes, record. Made first, removed last. */
import type { AttemptLog } from '../logs/attempt-log.ts';
import { openAttemptLog } from '../logs/attempt-log.ts';
import type { LaunchedProcess } from '../process/launch.ts';
import type { Workload } from '../process/workload.ts';
import { createWorkload } from '../process/workload.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { createWorkspace, removeWorkspace } from '../workspace/workspace.ts';
import type { AttemptContext } from './attempt-context.ts';
import { attemptId } from './attempt-context.ts';

export interface Scene {
  readonly log: AttemptLog;
  readonly workspace: Workspace;
  readonly workload: Workload;
  /** Processes whose output may still be read. */
  readonly launched: LaunchedProcess[];
  close(options: { readonly keepWorkspace: boolean }): Promise<void>;
}

export async function openScene(context: AttemptContext): Promise<Scene> {
  const { options, tuning, keeper, records } = context;
  const attempt = attemptId(context);
  const groups = new Set<number>();
  await records.write(attempt, []);
  const log = await openAttemptLog(options.logDir, attempt, tuning.logBytesMax);
  const workspace = await createWorkspace(options.stateDir, attempt);
  const launched: LaunchedProcess[] = [];
  const workload = createWorkload({
    attempt,
    clock: options.clock,
    async onGroup(group) {
      keeper.addGroup(attempt, group);
      groups.add(group);
      await records.write(attempt, [...groups]);
    },
    onGroupGone(group) {
      keeper.removeGroup(attempt, group);
      groups.delete(group);
    },
  });
  const unguard = context.exitGuard.add(workload.killNow);
  return {
    log,
    workspace,
    workload,
    launched,
    async close({ keepWorkspace }) {
      for (const process of launched) process.abandonOutput();
      await Promise.all(launched.map((process) => process.drained));
      await log.close();
      const left = keepWorkspace ? null : await removeWorkspace(workspace.directory);
      if (left !== null) options.onEvent({ kind: 'workspaceLeft', attempt, message: left });
      await records.remove(attempt);
      unguard();
    },
  };
}
