import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A COMMIT that a client has sent, and whose answer had not come when its connection ended. */
export interface UnansweredCommit {
  /** The client's login at the database. */
  login: string;
  sentAtMs: number;
}

/** In the startup message of a connection. */
const user = /\0user\0([^\0]+)\0/;

/** A file in the data folder, with a line for each: the proxy runs in another process than the tests. */
const fileIn = (dataDir: string): string => path.join(dataDir, 'unanswered-commits.jsonl');

/** In the order in which the connections ended. */
export function readUnansweredCommits(dataDir: string): UnansweredCommit[] {
  const file = fileIn(dataDir);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  return lines.map((line) => JSON.parse(line) as UnansweredCommit);
}

/** Watches one connection, and records its COMMIT if it remains unanswered. */
export class CommitWatch {
  private login: string | undefined;
  private sentAtMs: number | undefined;

  constructor(private readonly dataDir: string) {}

  /** Something that the client sends. */
  sent(data: Buffer, isCommit: boolean): void {
    this.login ??= user.exec(data.toString('latin1'))?.[1];
    if (isCommit) this.sentAtMs = Date.now();
  }

  /** The database has ended a transaction. */
  answered(): void {
    this.sentAtMs = undefined;
  }

  /** The connection has ended. May be called more than once. */
  ended(): void {
    const { login, sentAtMs } = this;
    this.sentAtMs = undefined;
    if (login === undefined || sentAtMs === undefined) return;
    appendFileSync(fileIn(this.dataDir), `${JSON.stringify({ login, sentAtMs } satisfies UnansweredCommit)}\n`);
  }
}
