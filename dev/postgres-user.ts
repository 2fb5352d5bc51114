import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

export interface ServiceUser {
  uid: number;
  gid: number;
}

/**
 * Postgres refuses to run as root. As root it runs as whoever owns the data already, else `postgres`, else `nobody`, one
 * of which every Linux has: no user has to be created. Undefined for everybody else: they run it themselves.
 */
export function serviceUser(dataDir: string): ServiceUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(dataDir, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const entry = users.find((fields) => fields[0] === name);
    if (entry) return { uid: Number(entry[2]), gid: Number(entry[3]) };
  }
  throw new Error(
    'Postgres cannot run as root and there is no user postgres or nobody: run as a normal user, or set DATABASE_URL',
  );
}

/** True when that user may pass through every folder above the path: a clone in /root is closed to everybody else. */
export function isReachable(target: string, user: ServiceUser | undefined): boolean {
  if (!user) return true;
  for (let folder = path.dirname(path.resolve(target)); ; folder = path.dirname(folder)) {
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (stat) {
      const bit = stat.uid === user.uid ? 0o100 : stat.gid === user.gid ? 0o010 : 0o001;
      if ((stat.mode & bit) === 0) return false;
    }
    if (folder === path.dirname(folder)) return true;
  }
}
