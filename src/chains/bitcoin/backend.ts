import type { Endpoint } from '../endpoints';
import type { Offered } from '../offer';
import type { Hex } from '../types';

/** A transaction, with its block on the main chain; null: it is in the pool. */
export interface FoundTransaction {
  id: string;
  block: { number: number; hash: string } | null;
}

/** What is asked of a server that knows the chain, whatever it speaks. */
export interface BitcoinBackend extends Endpoint {
  height(): Promise<number>;
  /** null: the chain is not that long. */
  blockHash(height: number): Promise<string | null>;
  /** In the format of the peer-to-peer network. */
  block(hash: string): Promise<Buffer>;
  header(hash: string): Promise<{ height: number; parentHash: string | null }>;
  /** null: neither the main chain nor the pool has it. */
  findTransaction(id: string): Promise<FoundTransaction | null>;
  /** Whether the output is in a block of the main chain, and none of its blocks spends it. */
  isUnspent(id: string, vout: number): Promise<boolean>;
  /** In the format of the peer-to-peer network. */
  transaction(id: string): Promise<Buffer>;
  /** Ids of what waits for a block. */
  pool(): Promise<string[]>;
  /** The same as `transaction`; null: it does not wait any more. */
  poolTransaction(id: string): Promise<Buffer | null>;
  /** Safe to repeat. */
  send(bytes: Hex, id: string): Promise<Offered>;
  /** Satoshis per virtual byte, rounded up; null: it has seen too few blocks to say. */
  feeRate(): Promise<bigint | null>;
}

/** Blocks within which a transaction is to be included. */
export const feeTarget = 3;
