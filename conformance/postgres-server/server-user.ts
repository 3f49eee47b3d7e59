import { spawnSync } from 'node:child_process';

export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root: then it runs as somebody without rights. Null: as whoever runs the tests. */
export function serverUser(): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    const ids = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout));
    const [uid = 0, gid = 0] = ids;
    if (uid > 0 && gid > 0) return { uid, gid };
  }
  throw new Error('no user to run PostgreSQL as: neither postgres nor nobody is known here');
}
