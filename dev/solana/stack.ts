/** What the stack and its tests need of a local chain that runs in a process of its own. */
import path from 'node:path';
import type { ChainFaults } from '../chain-faults';
import { projectRoot } from '../paths';
import type { Command } from '../processes';

export interface LocalChainProcess {
  port: number;
  slotMs: number;
  confirmed: number;
  finalized: number;
  /** The chain's state, which a later start continues. */
  stateFile: string;
}

export function localChainCommand({ port, slotMs, confirmed, finalized, stateFile }: LocalChainProcess): Command {
  const program = path.join(projectRoot, 'dist', 'dev', 'solana', 'index.js');
  const options = { port, 'slot-ms': slotMs, 'confirmed-lag': confirmed, 'finalized-lag': finalized, state: stateFile };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return {
    command: process.execPath,
    // a full history needs 100 MB
    args: ['--max-old-space-size=256', program, ...args],
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  };
}

export interface LocalChainStatus {
  /** Block heights; `slot` is the head's. */
  head: number;
  confirmed: number;
  finalized: number;
  earliest: number;
  slot: number;
  head_id: string;
  pending: number;
  /** Symbol to mint. */
  tokens: Record<string, string>;
}

const timeoutMs = 30_000;

/** The local chain's own paths. */
export class LocalChainClient {
  constructor(readonly url: string) {}

  status(): Promise<LocalChainStatus> {
    return this.call('status');
  }

  /**
   * Sends SOL, and makes a block unless blocks are held back.
   * @param amount lamports
   * @returns the transaction's signature
   * @throws Error with the chain's reason
   */
  async fund(address: string, amount: bigint): Promise<string> {
    return (await this.call<{ txid: string }>('faucet', { address, amount: String(amount) })).txid;
  }

  /**
   * As `fund`, to the owner's associated token account.
   * @param token mint or symbol
   * @param amount atomic units
   */
  async fundToken(token: string, owner: string, amount: bigint): Promise<string> {
    return (await this.call<{ txid: string }>('faucet', { token, address: owner, amount: String(amount) })).txid;
  }

  /** A fork leaves its blocks' transactions out, as on the EVM chains, and replaces what is processed alone. */
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
    const response = await fetch(`${this.url}/control/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = (await response.json()) as T & { error?: string };
    if (!response.ok) throw new Error(answer.error ?? `status ${response.status}`);
    return answer;
  }
}
