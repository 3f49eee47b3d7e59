/** What a run was started from: the commit of the directory, and whether its files differ from that commit. */
import { execFile } from 'node:child_process';
import type { SourceSnapshot } from '../../machines/plan/index.ts';

const gitTimeoutMs = 10_000;
const outputBytesMax = 64 * 1024;

type GitResult = { readonly ok: true; readonly output: string } | { readonly ok: false };

/** A directory without git, without a commit, or on a machine without git is just a directory. */
export async function sourceSnapshot(
  directory: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<SourceSnapshot> {
  const head = await git(['rev-parse', '--verify', '--quiet', 'HEAD'], { directory, environment });
  const commit = head.ok ? head.output.trim() : '';
  if (!/^[0-9a-f]{40,64}$/.test(commit)) return { kind: 'directory', commit: null, dirty: false };
  const status = await git(['status', '--porcelain', '--untracked-files=normal'], { directory, environment });
  // A status that cannot be had is no proof that nothing differs.
  return { kind: 'git', commit, dirty: !status.ok || status.output !== '' };
}

interface GitContext {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Arguments are a list, never a shell's line. The repository may be anybody's: its settings must not
 * start programs (core.fsmonitor), and variables of a surrounding git command must not redirect it.
 */
function git(command: readonly string[], { directory, environment }: GitContext): Promise<GitResult> {
  const { GIT_DIR: _gitDir, GIT_WORK_TREE: _workTree, GIT_INDEX_FILE: _indexFile, ...env } = environment;
  const options = {
    env: { ...env, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' },
    maxBuffer: outputBytesMax,
    timeout: gitTimeoutMs,
    windowsHide: true,
  };
  return new Promise((resolve) => {
    execFile('git', ['-C', directory, '-c', 'core.fsmonitor=false', ...command], options, (error, output) => {
      if (error === null) resolve({ ok: true, output });
      else resolve({ ok: false });
    });
  });
}
