import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { BitcoinDevNode } from './bitcoin';

/** A reorganisation that is deeper is not followed: its blocks are kept from there on. */
const maxDepth = 100;

/**
 * btcd begins a regtest chain anew whenever it starts. So its blocks are kept in a file, in which every line is height, hash and bytes,
 * and given back to it. A kill loses those that were made since `keep`, and transactions that wait for a block, as on a real node.
 */
export class KeptBlocks {
  /** By height: hash of the kept block. */
  private readonly hashes = new Map<number, string>();
  private isRestoring = false;

  constructor(
    private readonly node: BitcoinDevNode,
    private readonly file: string,
  ) {}

  /** Keeps what is new; nothing until `restore` has ended. */
  async keep(): Promise<void> {
    const height = await this.node.height();
    if (this.isRestoring || height === 0) return;
    for (const block of await this.newOnes(height)) {
      appendFileSync(this.file, `${block.height} ${block.hash} ${block.bytes}\n`);
      this.hashes.set(block.height, block.hash);
    }
  }

  /** Gives the node the kept blocks, which has to have been started just now. */
  async restore(): Promise<void> {
    this.isRestoring = true;
    try {
      const lines = existsSync(this.file) ? readFileSync(this.file, 'utf8').split('\n') : [];
      for (const line of lines) {
        const [height, hash = '', bytes] = line.split(' ');
        // a kill may have cut the last one
        if (!bytes || !(await this.node.submit(bytes))) continue;
        this.hashes.set(Number(height), hash);
      }
    } finally {
      this.isRestoring = false;
    }
  }

  /** Whether blocks may be made: not before the kept ones are back. */
  get isReady(): boolean {
    return !this.isRestoring;
  }

  private async newOnes(height: number): Promise<{ height: number; hash: string; bytes: string }[]> {
    const found = [];
    const oldest = Math.max(1, this.hashes.size === 0 ? 1 : Math.min(height, this.hashes.size) - maxDepth);
    for (let at = height; at >= oldest; at -= 1) {
      const hash = await this.node.hashAt(at);
      if (this.hashes.get(at) === hash) break;
      found.push({ height: at, hash, bytes: await this.node.blockBytes(hash) });
    }
    return found.reverse();
  }
}
