import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import Joi from 'joi';
import { ConfigError } from '../platform/config';
import { findFault } from '../platform/untrusted';
import type { NodeIndex } from '../messages/nodes';

/** What a node's database must at least contain. */
export interface Mark {
  /** Number of the node's own bans. */
  bans: number;
  /** Newest entry whose session has begun; null before the first. `hash`: SHA-256 of its statement, in hex. */
  entry: { number: number; hash: string } | null;
  /**
   * While the node takes back what its database lacks: since when, by the clock of that database, ISO 8601. Not even a database that has
   * the newest entry is complete then: older ones may be missing.
   */
  behindSince?: string;
}

interface MarkFile extends Mark {
  version: 1;
  node: NodeIndex;
}

/** Of a write with everything that belongs to it; a peer waits 5 s for this node's first message, and half of that is late. */
const maxWriteMs = 2_000;

const schema = Joi.object<MarkFile, true>({
  version: Joi.number().valid(1).required(),
  node: Joi.number().valid(1, 2, 3).required(),
  bans: Joi.number().integer().min(0).required(),
  entry: Joi.object({
    number: Joi.number().integer().min(1).required(),
    hash: Joi.string()
      .pattern(/^[0-9a-f]{64}$/)
      .required(),
  })
    .allow(null)
    .required(),
  behindSince: Joi.string().isoDate(),
});

/**
 * A small file outside the node's database, so that a database restored from a backup is noticed: without it the node would forget
 * bans and what it has signed. The file is replaced as a whole, and calls that come during a write share the next one. A write that a
 * hanging disk does not end has failed after two seconds.
 */
export class JournalMark {
  /** What the next write says; never less than the file. */
  private current: Mark = { bans: 0, entry: null };
  private running: Promise<void> = Promise.resolve();
  /** A write that the disk has not ended, perhaps after its time. */
  private onDisk: Promise<void> | undefined;
  private next: Promise<void> | undefined;
  /** Kept open: it is forced to the disk with every write. */
  private folder: FileHandle | undefined;
  private listener: (failure: Error | null) => void = () => undefined;

  constructor(
    private readonly file: string,
    private readonly node: NodeIndex,
  ) {}

  /** Told of every write: null, or why it has failed. */
  onWrite(listener: (failure: Error | null) => void): void {
    this.listener = listener;
  }

  /** What the file says; null without a file. @throws ConfigError when it cannot be read or belongs to another node. */
  async read(): Promise<Mark | null> {
    let text: string;
    try {
      text = await readFile(this.file, 'utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return null;
      throw new ConfigError(`MPC_NODE_JOURNAL_MARK cannot be read (${code ?? 'error'})`);
    }
    const { node, bans, entry, behindSince } = parse(text);
    if (node !== this.node) throw new ConfigError(`MPC_NODE_JOURNAL_MARK belongs to node ${node}`);
    this.current = { bans, entry, ...(behindSince !== undefined && { behindSince }) };
    return this.current;
  }

  /** What the file says, or will say after the write that is due. */
  get known(): Mark {
    return this.current;
  }

  /** Notes that the database lacks something, before anything is put back. Returns since when, which is an earlier call's time if there was one. */
  async beginTakingBack(at: Date): Promise<Date> {
    const behindSince = this.current.behindSince ?? at.toISOString();
    this.current = { ...this.current, behindSince };
    await this.flush();
    return new Date(behindSince);
  }

  /** The database is complete, and has at least this much. */
  complete({ bans, entry }: Mark): Promise<void> {
    const known = this.current;
    const isNewer = entry !== null && entry.number > (known.entry?.number ?? 0);
    return this.replace({ bans: Math.max(bans, known.bans), entry: isNewer ? entry : known.entry });
  }

  /** Replaces what the file says, also by less; resolves when it is durable. */
  reset(mark: Mark): Promise<void> {
    return this.replace(mark);
  }

  /** What the file says is still known when it cannot be written. */
  private async replace(mark: Mark): Promise<void> {
    const before = this.current;
    this.current = mark;
    try {
      await this.flush();
    } catch (error) {
      if (this.current === mark) this.current = before;
      throw error;
    }
  }

  /** Resolves when the file names this entry or a newer one. */
  raiseEntry(number: number, hash: string): Promise<void> {
    if (number > (this.current.entry?.number ?? 0)) this.current = { ...this.current, entry: { number, hash } };
    return this.flush();
  }

  raiseBans(bans: number): Promise<void> {
    if (bans > this.current.bans) this.current = { ...this.current, bans };
    return this.flush();
  }

  /** Writes again what could not be written. */
  rewrite(): Promise<void> {
    return this.flush();
  }

  async close(): Promise<void> {
    await this.running.catch(() => undefined);
    await this.folder?.close();
    this.folder = undefined;
  }

  private flush(): Promise<void> {
    this.next ??= this.running
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        const text = JSON.stringify({ version: 1, node: this.node, ...this.current } satisfies MarkFile);
        this.running = this.writeInTime(text).then(
          () => this.listener(null),
          (error: Error) => {
            this.listener(error);
            throw error;
          },
        );
        return this.running;
      });
    return this.next;
  }

  private async writeInTime(text: string): Promise<void> {
    // the earlier one would replace a later one when the disk goes on
    if (this.onDisk) throw new Error('an earlier write of the journal mark has not ended');
    const write = this.write(text).finally(() => (this.onDisk = undefined));
    this.onDisk = write;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`the journal mark was not written within ${maxWriteMs} ms`)), maxWriteMs);
    });
    await Promise.race([write, late]).finally(() => clearTimeout(timer));
  }

  private async write(text: string): Promise<void> {
    const temporary = `${this.file}.new`;
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(`${text}\n`);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(temporary, this.file);
    this.folder ??= await open(path.dirname(this.file), 'r');
    await this.folder.sync();
  }
}

function parse(text: string): MarkFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ConfigError('MPC_NODE_JOURNAL_MARK is not JSON');
  }
  if (findFault(schema, value) !== null) throw new ConfigError('MPC_NODE_JOURNAL_MARK is not a mark of this version');
  return value as MarkFile;
}
