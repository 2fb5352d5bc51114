/** What the stack and its tests need of a local chain that runs in a process of its own. */
import { chainCommand, ControlClient } from '../control-client';
import type { Command } from '../processes';

export interface LocalChainProcess {
  port: number;
  slotMs: number;
  confirmed: number;
  finalized: number;
  /** The chain's state, which a later start continues. */
  stateFile: string;
}

/** A full history needs 100 MB. */
const heapMb = 256;

export const localChainCommand = ({ port, slotMs, confirmed, finalized, stateFile }: LocalChainProcess): Command =>
  chainCommand('solana', heapMb, {
    ...{ port, 'slot-ms': slotMs, 'confirmed-lag': confirmed, 'finalized-lag': finalized },
    state: stateFile,
  });

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

/** The local chain's own paths. Tokens go to the associated token account; a fork replaces what is processed alone. */
export class LocalChainClient extends ControlClient<LocalChainStatus> {
  constructor(url: string) {
    super(url, 'control');
  }
}
