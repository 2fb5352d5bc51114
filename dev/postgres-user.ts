import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

export interface ServiceUser {
  uid: number;
  gid: number;
}

/**
 * The user to run Postgres as, since it refuses to run as root: the owner of existing data, else `postgres`, else `nobody`, of which
 * every Linux has at least one. Undefined if this process does not run as root.
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

/** True when the user has access to every folder above the path; a clone in /root is not accessible to other users. */
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
