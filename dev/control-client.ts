import path from 'node:path';
import type { ChainFaults } from './chain-faults';
import { projectRoot } from './paths';
import type { Command } from './processes';

/** A chain of ours that runs in a process of its own: `options` are its program's, `heapMb` bounds what it keeps in memory. */
export function chainCommand(folder: string, heapMb: number, options: Record<string, string | number>): Command {
  const program = path.join(projectRoot, 'dist', 'dev', folder, 'index.js');
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return {
    command: process.execPath,
    args: [`--max-old-space-size=${heapMb}`, program, ...args],
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  };
}

const timeoutMs = 30_000;

/** The paths by which such a chain is funded and disturbed; `Status` is what it says of itself. */
export class ControlClient<Status> {
  constructor(
    readonly url: string,
    private readonly prefix: string,
  ) {}

  status(): Promise<Status> {
    return this.call('status');
  }

  /**
   * Sends native coins, and makes a block unless blocks are held back.
   * @param amount atomic units
   * @returns the transaction's id
   * @throws Error with the chain's reason
   */
  async fund(address: string, amount: bigint): Promise<string> {
    return (await this.call<{ txid: string }>('faucet', { address, amount: String(amount) })).txid;
  }

  /**
   * As `fund`, with a token.
   * @param token contract or symbol
   * @param address the token's owner
   */
  async fundToken(token: string, address: string, amount: bigint): Promise<string> {
    return (await this.call<{ txid: string }>('faucet', { token, address, amount: String(amount) })).txid;
  }

  /** A fork leaves its blocks' transactions out, as on the EVM chains. */
  get faults(): ChainFaults {
    const run = async (name: string, body: object = {}): Promise<void> => void (await this.call(name, body));
    return {
      delay: () => run('pause', { paused: true }),
      resume: () => run('pause', { paused: false }),
      mine: (blocks) => run('mine', { blocks }),
      drop: (id) => run('drop', { txid: id }),
      reorganise: (depth) => run('fork', { depth, transactions: 'drop' }),
    };
  }

  /** @throws Error with the chain's reason */
  async call<T>(name: string, body: object = {}): Promise<T> {
    const response = await fetch(`${this.url}/${this.prefix}/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = (await response.json()) as T & { error?: string };
    if (!response.ok) throw new Error(answer.error ?? `status ${response.status}`);
    return answer;
  }
}
