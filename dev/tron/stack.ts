/** What the stack and its tests need of a simulator that runs in a process of its own. */
import path from 'node:path';
import type { ChainFaults } from '../chain-faults';
import { projectRoot } from '../paths';
import type { Command } from '../processes';

export interface SimulatorProcess {
  port: number;
  blockMs: number;
  solidLag: number;
  /** The chain's state, which a later start continues. */
  stateFile: string;
}

export function simulatorCommand({ port, blockMs, solidLag, stateFile }: SimulatorProcess): Command {
  const program = path.join(projectRoot, 'dist', 'dev', 'tron', 'index.js');
  const options = { port, 'block-ms': blockMs, 'solid-lag': solidLag, state: stateFile };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return {
    command: process.execPath,
    // an idle chain needs 100 MB
    args: ['--max-old-space-size=160', program, ...args],
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  };
}

export interface SimulatorStatus {
  head: number;
  head_id: string;
  head_time_ms: number;
  solidified: number;
  earliest: number;
  pending: number;
  /** Symbol to address. */
  tokens: Record<string, string>;
}

const timeoutMs = 30_000;

/** The simulator's own endpoints. */
export class SimulatorClient {
  constructor(readonly url: string) {}

  status(): Promise<SimulatorStatus> {
    return this.call('status');
  }

  /**
   * Sends TRX, and makes a block unless blocks are held back.
   * @param amount sun
   * @returns the transaction id
   * @throws Error with the simulator's reason
   */
  async fund(address: string, amount: bigint): Promise<string> {
    return (await this.call<{ txid: string }>('faucet', { address, amount: String(amount) })).txid;
  }

  /**
   * As `fund`, with a TRC-20 token.
   * @param token address or symbol
   * @param amount atomic units
   */
  async fundToken(token: string, address: string, amount: bigint): Promise<string> {
    return (await this.call<{ txid: string }>('faucet', { token, address, amount: String(amount) })).txid;
  }

  /** A fork leaves its blocks' transactions out, as on the EVM chains. */
  get faults(): ChainFaults {
    const run = async (path: string, body: object = {}): Promise<void> => void (await this.call(path, body));
    return {
      delay: () => run('pause', { paused: true }),
      resume: () => run('pause', { paused: false }),
      mine: (blocks) => run('mine', { blocks }),
      drop: (id) => run('drop', { txid: id }),
      reorganise: (depth) => run('fork', { depth, transactions: 'drop' }),
    };
  }

  /** @throws Error with the simulator's reason */
  async call<T>(path: string, body: object = {}): Promise<T> {
    const response = await fetch(`${this.url}/simulator/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = (await response.json()) as T & { error?: string };
    if (!response.ok) throw new Error(answer.error ?? `status ${response.status}`);
    return answer;
  }
}
