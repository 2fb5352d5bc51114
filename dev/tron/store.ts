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
import type { Block } from './blocks';
import type { ChainData, Change } from './history';
import { Layer } from './state';

type Entries = [string, string | null][];
type Line = { rollback: number } | { block: Block; layer: Entries };

/** First line of a snapshot; each further one is a block. */
interface Beginning {
  /** The file of the changes since has it in its name. */
  generation: number;
  base: Entries;
  layers: Entries[];
}

/** After so many lines everything is written anew, at the next start or now. */
const maxLines = 5_000;
/** So many blocks are in memory as text at once. */
const batch = 500;

const keep = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
const revive = (_: string, value: unknown): unknown =>
  typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;
const write = (value: unknown): string => `${JSON.stringify(value, keep)}\n`;
/** Without a last line that was not written to its end. */
const readLines = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []);

/**
 * A chain in two files: a snapshot, and a line for each change since. A line is appended as the block is made, so that a kill loses
 * pending transactions alone, as it would on a node.
 */
export class Store {
  private generation = 0;
  private lines = 0;
  private data: ChainData | undefined;

  constructor(private readonly file: string) {}

  /** What the files hold; undefined if there are none. */
  load(solidLag: number): ChainData | undefined {
    const [first, ...blocks] = readLines(this.file);
    if (first === undefined) return undefined;
    const { generation, base, layers } = JSON.parse(first, revive) as Beginning;
    this.generation = generation;
    const data: ChainData = {
      base: new Layer(undefined, new Map(base)),
      blocks: blocks.map((line) => JSON.parse(line, revive) as Block),
      layers: layers.map((entries) => new Layer(undefined, new Map(entries))),
    };
    for (const line of readLines(this.logFile)) apply(data, JSON.parse(line, revive) as Line);
    settle(data, solidLag);
    return data;
  }

  /** Writes the whole chain; changes are noted from then on. */
  begin(data: ChainData): void {
    this.data = data;
    mkdirSync(path.dirname(this.file), { recursive: true });
    const previous = this.logFile;
    this.generation += 1;
    this.lines = 0;
    const layers = data.layers.map((layer) => [...layer.entries]);
    const beginning: Beginning = { generation: this.generation, base: [...data.base.entries], layers };
    const temporary = `${this.file}.new`;
    const file = openSync(temporary, 'w', 0o600);
    try {
      writeFileSync(file, write(beginning));
      for (let start = 0; start < data.blocks.length; start += batch) {
        writeFileSync(
          file,
          data.blocks
            .slice(start, start + batch)
            .map(write)
            .join(''),
        );
      }
    } finally {
      closeSync(file);
    }
    renameSync(temporary, this.file);
    rmSync(previous, { force: true });
  }

  /** Must be called before the change is made. */
  note(change: Change): void {
    if (this.lines >= maxLines && this.data) this.begin(this.data);
    const line: Line = 'rollback' in change ? change : { block: change.block, layer: [...change.layer.entries] };
    appendFileSync(this.logFile, write(line), { mode: 0o600 });
    this.lines += 1;
  }

  private get logFile(): string {
    return `${this.file}.${this.generation}.log`;
  }
}

function apply(data: ChainData, change: Line): void {
  if ('rollback' in change) {
    data.blocks.splice(-change.rollback);
    data.layers.splice(-change.rollback);
  } else {
    data.blocks.push(change.block);
    data.layers.push(new Layer(undefined, new Map(change.layer)));
  }
}

/** Merges the layers of solidified blocks, and puts the others one upon another. */
function settle({ base, layers }: ChainData, solidLag: number): void {
  while (layers.length > solidLag) layers.shift()?.mergeInto(base);
  layers.forEach((layer, index) => (layer.parent = layers[index - 1] ?? base));
}
