import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomically } from '../files';
import type { Block } from './blocks';
import type { ChainData, Change } from './chain';
import { Layer } from './state';

type Entries = [string, string | null][];

interface Snapshot {
  /** The file of the changes since has it in its name. */
  generation: number;
  base: Entries;
  blocks: Block[];
  layers: Entries[];
}

/** After so many lines everything is written anew, at the next start or now. */
const maxLines = 5_000;

const keep = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
const revive = (_: string, value: unknown): unknown =>
  typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;

/**
 * A chain in two files: a snapshot, and a line for each change since. A line is appended as the block is made, so that a kill loses
 * pending transactions alone, as it would on a node.
 */
export class Store {
  private generation = 0;
  private lines = 0;
  private data: ChainData | undefined;

  constructor(private readonly file: string) {}

  /** What the files hold; undefined if there are none. A last line that was not written to its end is left out. */
  load(solidLag: number): ChainData | undefined {
    if (!existsSync(this.file)) return undefined;
    const snapshot = JSON.parse(readFileSync(this.file, 'utf8'), revive) as Snapshot;
    this.generation = snapshot.generation;
    const data: ChainData = {
      base: new Layer(undefined, new Map(snapshot.base)),
      blocks: snapshot.blocks,
      layers: snapshot.layers.map((entries) => new Layer(undefined, new Map(entries))),
    };
    const text = existsSync(this.logFile) ? readFileSync(this.logFile, 'utf8') : '';
    const lines = text.split('\n').slice(0, -1);
    for (const line of lines) apply(data, JSON.parse(line, revive) as { rollback: number } | { block: Block; layer: Entries });
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
    const snapshot: Snapshot = {
      generation: this.generation,
      base: [...data.base.entries],
      blocks: data.blocks,
      layers: data.layers.map((layer) => [...layer.entries]),
    };
    writeFileAtomically(this.file, JSON.stringify(snapshot, keep));
    rmSync(previous, { force: true });
  }

  note(change: Change): void {
    if (this.lines >= maxLines && this.data) this.begin(this.data);
    const line = 'rollback' in change ? change : { block: change.block, layer: [...change.layer.entries] };
    appendFileSync(this.logFile, `${JSON.stringify(line, keep)}\n`, { mode: 0o600 });
    this.lines += 1;
  }

  private get logFile(): string {
    return `${this.file}.${this.generation}.log`;
  }
}

function apply(data: ChainData, change: { rollback: number } | { block: Block; layer: Entries }): void {
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
