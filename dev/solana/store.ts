import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { Account } from './accounts';
import type { Change } from './chain';
import type { AccountChange, Entry } from './history';
import { keep, revive } from './json';

/** Lamports, data in base64, owner, executable. */
type Written = [string, string, string, boolean] | null;
interface WrittenEntry {
  block: Entry['block'];
  changes: [string, Written, Written][];
}
type Line = WrittenEntry | { rollback: number };

/** First line of a snapshot; each further one is a block. */
interface Beginning {
  /** The file of the changes since has it in its name. */
  generation: number;
  accounts: [string, Written][];
}

export interface Stored {
  entries: Entry[];
  /** Every account that a block has changed, or that the chain began with, as it is now. */
  accounts: Map<string, Account | undefined>;
}

const maxLines = 5_000;
/** So many blocks are in memory as text at once. */
const batch = 500;

const writeAccount = (account: Account | undefined): Written =>
  account ? [String(account.lamports), account.data.toString('base64'), account.owner, account.executable] : null;
const readAccount = (written: Written): Account | undefined =>
  written
    ? { lamports: BigInt(written[0]), data: Buffer.from(written[1], 'base64'), owner: written[2], executable: written[3] }
    : undefined;
const writeEntry = ({ block, changes }: Entry): string =>
  keep({ block, changes: changes.map(({ key, before, after }) => [key, writeAccount(before), writeAccount(after)]) });
const readEntry = ({ block, changes }: WrittenEntry): Entry => ({
  block,
  changes: changes.map(([key, before, after]): AccountChange => ({
    key,
    before: readAccount(before),
    after: readAccount(after),
  })),
});
/** Without a last line that was not written to its end. */
const readLines = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []);

/** A chain in two files: a snapshot, and a line for each block since. A kill loses transactions that wait for a block, alone. */
export class Store {
  private generation = 0;
  private lines = 0;
  private stored: Stored = { entries: [], accounts: new Map() };

  constructor(private readonly file: string) {}

  /** What the files hold; undefined if there are none. */
  load(): Stored | undefined {
    const [first, ...blocks] = readLines(this.file);
    if (first === undefined) return undefined;
    const { generation, accounts } = revive(first) as Beginning;
    this.generation = generation;
    const stored: Stored = {
      entries: blocks.map((line) => readEntry(revive(line) as WrittenEntry)),
      accounts: new Map(accounts.map(([key, written]) => [key, readAccount(written)])),
    };
    for (const line of readLines(this.logFile)) apply(stored, revive(line) as Line);
    return stored;
  }

  /** Writes the whole chain; changes are noted from then on. `stored.entries` is what the history has, later too. */
  begin(stored: Stored): void {
    this.stored = stored;
    mkdirSync(path.dirname(this.file), { recursive: true });
    const previous = this.logFile;
    this.generation += 1;
    this.lines = 0;
    const accounts = [...stored.accounts].map(([key, account]): [string, Written] => [key, writeAccount(account)]);
    const beginning: Beginning = { generation: this.generation, accounts };
    const temporary = `${this.file}.new`;
    const file = openSync(temporary, 'w', 0o600);
    try {
      writeFileSync(file, `${keep(beginning)}\n`);
      for (let start = 0; start < stored.entries.length; start += batch) {
        const lines = stored.entries.slice(start, start + batch).map((entry) => `${writeEntry(entry)}\n`);
        writeFileSync(file, lines.join(''));
      }
    } finally {
      closeSync(file);
    }
    renameSync(temporary, this.file);
    rmSync(previous, { force: true });
  }

  /** Must be called before the change is made. */
  note(change: Change): void {
    const { entries, accounts } = this.stored;
    if (this.lines >= maxLines) this.begin(this.stored);
    appendFileSync(this.logFile, `${'rollback' in change ? keep(change) : writeEntry(change)}\n`, { mode: 0o600 });
    this.lines += 1;
    if ('rollback' in change) undo(entries.slice(-change.rollback), accounts);
    else for (const { key, after } of change.changes) accounts.set(key, after);
  }

  private get logFile(): string {
    return `${this.file}.${this.generation}.log`;
  }
}

function apply({ entries, accounts }: Stored, line: Line): void {
  if ('rollback' in line) return undo(entries.splice(-line.rollback), accounts);
  const entry = readEntry(line);
  entries.push(entry);
  for (const { key, after } of entry.changes) accounts.set(key, after);
}

function undo(removed: Entry[], accounts: Stored['accounts']): void {
  for (const { changes } of removed.reverse()) for (const { key, before } of changes) accounts.set(key, before);
}
