import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { GatewayError } from '../../platform/errors';

export interface Owner {
  uid: number;
  gid: number;
}

/** The owner reads; nobody writes. */
const mode = 0o400;
const folderMode = 0o700;
/** Others have no access at all, and the group may not write. */
const forbiddenBits = 0o027;
/** No secret of a deployment is longer. */
const maxBytes = 1_000_000;
const temporaryName = /^\.[^/]+\.new$/;

/** A sentence that names the file and says what is wrong with it. */
export const secretFileProblem = (file: string, what: string, cause?: unknown): GatewayError =>
  new GatewayError('business_error', `${file} ${what}`, cause === undefined ? {} : { cause });

/** Folders with secret files, one for each part of a deployment: what is there is read, and changed by `replace` alone. */
export class SecretFiles {
  private readonly isRoot = process.getuid?.() === 0;

  /**
   * @param root contains a folder for each owner
   * @param owners by folder. Without root's rights files belong to the user who runs the command.
   */
  constructor(
    private readonly root: string,
    private readonly owners: Readonly<Record<string, Owner>>,
  ) {}

  path(file: string): string {
    return path.join(this.root, file);
  }

  /** Makes the folders with their owners, and removes what an interrupted run has left. @throws GatewayError naming the folder. */
  async prepare(): Promise<void> {
    for (const [name, { uid, gid }] of Object.entries(this.owners)) {
      const folder = this.path(name);
      try {
        mkdirSync(folder, { recursive: true });
        const stat = lstatSync(folder);
        if (!stat.isDirectory()) throw secretFileProblem(folder, 'is not a folder');
        if ((stat.mode & 0o7777) !== folderMode) chmodSync(folder, folderMode);
        if (this.isRoot && (stat.uid !== uid || stat.gid !== gid)) chownSync(folder, uid, gid);
        for (const left of readdirSync(folder)) if (temporaryName.test(left)) await rm(path.join(folder, left));
      } catch (error) {
        throw error instanceof GatewayError ? error : secretFileProblem(folder, `cannot be prepared (${codeOf(error)})`, error);
      }
    }
  }

  /** The content, without white space around it; undefined when there is no such file. @throws GatewayError for a file that others may read or change. */
  read(file: string): string | undefined {
    const full = this.path(file);
    const stat = lstatSync(full, { throwIfNoEntry: false });
    if (!stat) return undefined;
    if (!stat.isFile()) throw secretFileProblem(full, 'is not a regular file');
    if ((stat.mode & forbiddenBits) !== 0)
      throw secretFileProblem(
        full,
        `has the mode ${(stat.mode & 0o777).toString(8)}: others may read or change it; it has to be 400`,
      );
    const { uid } = this.ownerOf(file);
    if (this.isRoot && stat.uid !== uid)
      throw secretFileProblem(full, `belongs to the user ${stat.uid}, and its process runs as ${uid}`);
    if (stat.size > maxBytes) throw secretFileProblem(full, 'is too large');
    try {
      return readFileSync(full, 'utf8').trim();
    } catch (error) {
      throw secretFileProblem(full, `cannot be read (${codeOf(error)})`, error);
    }
  }

  /** Readers see the whole file or none. @throws GatewayError when it exists by now or cannot be written; nothing is left then. */
  write(file: string, content: string): Promise<void> {
    // unlike a rename, a link fails when there is a file by now
    return this.writeAs(file, content, link);
  }

  /** The same for a file that may exist: one that is no secret, or is renewed. */
  replace(file: string, content: string): Promise<void> {
    return this.writeAs(file, content, rename);
  }

  private async writeAs(file: string, content: string, place: (from: string, to: string) => Promise<void>): Promise<void> {
    const full = this.path(file);
    const temporary = path.join(path.dirname(full), `.${path.basename(full)}.${randomBytes(6).toString('hex')}.new`);
    try {
      const handle = await open(temporary, 'wx', mode);
      try {
        await handle.writeFile(content.endsWith('\n') ? content : `${content}\n`);
        await handle.chmod(mode);
        const { uid, gid } = this.ownerOf(file);
        if (this.isRoot) await handle.chown(uid, gid);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await place(temporary, full);
      await syncFolder(path.dirname(full));
    } catch (error) {
      const exists = codeOf(error) === 'EEXIST';
      throw secretFileProblem(
        full,
        exists ? 'was made meanwhile and is not overwritten' : `cannot be written (${codeOf(error)})`,
        error,
      );
    } finally {
      await rm(temporary, { force: true });
    }
  }

  private ownerOf(file: string): Owner {
    const folder = file.split('/')[0] ?? '';
    const owner = this.owners[folder];
    if (!owner) throw new Error(`the folder ${folder} has no owner`);
    return owner;
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'error';

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
