/** What the commands that carry runs are told about the machine they run on. */
import { availableParallelism } from 'node:os';

export interface HostFlags {
  readonly slots?: number;
  readonly capability?: readonly string[];
  readonly secretCommand?: Readonly<Record<string, readonly string[]>>;
  readonly keepWorkspaces?: boolean;
}

export interface HostSettings {
  readonly slots: number;
  readonly capabilities: readonly string[];
  readonly secretCommands: Readonly<Record<string, readonly string[]>>;
  readonly keepWorkspaces: boolean;
}

const platformNames: Partial<Record<NodeJS.Platform, string>> = { darwin: 'macos', win32: 'windows' };

export function hostSettings(flags: HostFlags): HostSettings {
  const own = [platformNames[process.platform] ?? process.platform, process.arch];
  return {
    slots: flags.slots ?? availableParallelism(),
    capabilities: [...new Set([...own, ...(flags.capability ?? [])])],
    secretCommands: flags.secretCommand ?? {},
    keepWorkspaces: flags.keepWorkspaces ?? false,
  };
}
