import type { DataSource, EntityManager } from 'typeorm';
import type { FollowerHeartbeat } from '../messages/following';
import type { ChainObservation } from '../messages/transfer';
import type { ChainClient } from '../chains/chain-client';
import type { ChainDefinition, ChainFamily, DepositFound, PendingDeposit } from '../chains/types';
import type { Logger } from '../platform/logging';
import type { GetSignedType } from '../transactions/signed-type';
import type { ChainAlarms } from './chain-alarms';
import type { FundingMemory } from './funding-memory';

/** What the follower needs of the deposits (src/deposits). All but look-ups run inside a database transaction of the follower. */
export interface DepositsPort {
  /** Inserts INBOUND rows, DETECTED; idempotent by (chain, hash, position). */
  recordDeposits(manager: EntityManager, chain: ChainDefinition, found: DepositFound[]): Promise<void>;
  /** Inserts rows without a block, as far as limits allow; idempotent as well. */
  recordPendingDeposits(manager: EntityManager, chain: ChainDefinition, found: PendingDeposit[]): Promise<void>;
  /** Ids of the transactions of rows without a block. */
  findPendingHashes(manager: EntityManager, chain: string): Promise<string[]>;
  /** Ends the rows without a block of these transactions. */
  endPendingDeposits(manager: EntityManager, chain: string, hashes: string[]): Promise<void>;
  /** Credits a batch of what is deep enough and in no block above `upToBlock`; returns how many, 0 when there is no more. */
  confirmDeposits(manager: EntityManager, chain: ChainDefinition, headBlock: number, upToBlock: number): Promise<number>;
  /** Orphans the rows of blocks from `fromBlock` on and takes back what was credited. */
  orphanDeposits(manager: EntityManager, chain: ChainDefinition, fromBlock: number): Promise<void>;
  /** Which of the addresses are ours. */
  depositAddresses(manager: EntityManager, family: ChainFamily, addressKeys: string[]): Promise<Set<string>>;
}

/** `gone`: there is no such workflow, or it has ended. */
export type SignalResult = 'sent' | 'gone';

/** Signals the workflow of a transfer. Throws when Temporal does not answer; the signal is then sent again at the next poll. */
export type SignalTransfer = (txId: string, observation: ChainObservation) => Promise<SignalResult>;

/** Tells the workflows of one chain what it shows of their transfers, beside the scan, which waits for none of it; never throws. */
export interface TransferNotifier {
  /** `observations`: of all transactions that wait now. */
  sendAll(observations: ReadonlyMap<string, ChainObservation>): Promise<void>;
  /** Ends after what is on its way; the rest is sent at the next call. */
  giveUp(): Promise<void>;
  /** Of what was taken back: after whatever is on its way, and before what later calls of `sendAll` say. */
  sendTakenBack(takenBack: Iterable<readonly [string, ChainObservation]>): Promise<void>;
}

export interface FollowOptions {
  chain: ChainDefinition;
  client: ChainClient;
  getSignedType: GetSignedType;
  database: DataSource;
  deposits: DepositsPort;
  /** Of this chain, the same for each call: it knows what has been signalled. */
  notifier: TransferNotifier;
  /** Asks the chain about a transfer, stores what it shows, and sends again what was signed and no node knows. */
  observe: (txId: string) => Promise<ChainObservation>;
  /**
   * The block that ended a transfer (CONFIRMED or FAILED) was reorganised away before finality, or an attempt of an ended transfer
   * was executed after it had been proven impossible: somebody has to correct it.
   */
  onConfirmedReorged: (txId: string) => Promise<void>;
  /** Of this chain, the same for each call. */
  funding: FundingMemory;
  /** Of all chains of the process. */
  chainAlarms: ChainAlarms;
  logger: Logger;
  /** Ends the work at the next step. */
  signal: AbortSignal;
  heartbeat: (details: FollowerHeartbeat) => void;
  /** How long one call works before it returns; default 10 minutes. */
  sliceMs?: number;
  /** Default: half the block time, at least 250 ms. */
  pollMs?: number;
}
