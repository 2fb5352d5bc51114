import { ConfigError } from '../../platform/config';
import { fromHex } from '../../platform/hex';
import { rpcUrlsVariable } from '../config';
import { type Endpoint, once } from '../endpoints';
import { type ObserveCall, observeCalls } from '../observed-calls';
import { createPacedRawPost, type PacedPost, parsed } from '../paced-post';
import { solana } from '../registry/solana';
import type { Paces } from '../request-rate';
import type { ChainDefinition, Hex, JsonValue } from '../types';
import { estimateMs } from '../unanswered';
import {
  type Account,
  type Block,
  type Executed,
  type Header,
  type ListedBlock,
  readAccount,
  readBlock,
  readExecuted,
  readHash,
  readHeader,
  readList,
  readListedBlock,
  readNumber,
  readObject,
  readText,
  readValue,
} from './answers';
import { latestVersion } from './foreign';
import type { PaidBlock } from './paid/read';
import { readInThread } from './paid/threads';
import { call, RpcError, toRequest } from './rpc';
import { parseEndpoint } from './url';

/** Genesis blocks of testnet, which no profile has, and of those that one has. */
const testnetGenesis = '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY';
const isPublic = (hash: string): boolean =>
  hash === testnetGenesis || Object.values(solana).some((chains) => chains.some(({ genesisHash }) => genesisHash === hash));

const finalized = { commitment: 'finalized' };
/** Of full blocks: only the follower and proofs ask for them. */
const blocksMs = 60_000;
/** SLOT_SKIPPED and LONG_TERM_STORAGE_SLOT_SKIPPED of rpc-client-api, custom_error.rs. */
const skipped: ReadonlySet<number> = new Set([-32_007, -32_009]);

const blockOptions = (transactionDetails: string) => ({
  ...finalized,
  encoding: 'base64',
  transactionDetails,
  maxSupportedTransactionVersion: latestVersion,
  rewards: false,
});

/** Slots without a block are no errors. */
async function nullIfSkipped<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RpcError && skipped.has(error.code)) return null;
    throw error;
  }
}

export interface Latest {
  /** Of the block whose hash it is. */
  slot: number;
  blockhash: string;
  lastValidBlockHeight: number;
}

export interface Simulated {
  /** Of the newest block that its state contains. */
  slot: number;
  /** null: it would succeed. */
  error: JsonValue;
  units: number;
}

export interface SignatureState {
  slot: number;
  isFinalized: boolean;
}

/** A node of Solana, or a service that answers as one. What it says of the chain is of finalized blocks unless a method says otherwise. */
export class SolanaNode implements Endpoint {
  readonly host: string;
  private readonly where: string;
  private readonly rawPost: PacedPost<Buffer>;
  private readonly post: PacedPost;
  private readonly observe: ObserveCall;
  /** Of the registered tokens. */
  private readonly mints: readonly string[];

  /** `position`: of its url in the configuration, from 1. */
  constructor(
    private readonly chain: ChainDefinition,
    url: string,
    position: number,
    paces: Paces,
  ) {
    this.where = `${rpcUrlsVariable(chain.name)} entry ${position}`;
    this.rawPost = createPacedRawPost(parseEndpoint(url, this.where, paces));
    this.post = parsed(this.rawPost);
    this.host = new URL(url).host;
    this.mints = chain.tokens.flatMap(({ contract }) => contract ?? []);
    this.observe = observeCalls({ chain: chain.name, url, isRefusal: (error) => error instanceof RpcError });
  }

  readonly identify = once(() => this.checkIdentity());

  async slot(): Promise<number> {
    return readNumber(await this.ask('getSlot', [finalized]));
  }

  /** The oldest slot whose block the node has. */
  async firstSlot(): Promise<number> {
    return readNumber(await this.ask('getFirstAvailableBlock', []));
  }

  async latest(): Promise<Latest> {
    const answer = readObject(await this.ask('getLatestBlockhash', [finalized]));
    const { blockhash, lastValidBlockHeight } = readObject(answer.value);
    const slot = readNumber(readObject(answer.context).slot);
    return { slot, blockhash: readHash(blockhash), lastValidBlockHeight: readNumber(lastValidBlockHeight) };
  }

  /** Whether the newest confirmed block would still execute a message with this block hash (Base58). */
  async isBlockhashValid(blockhash: string): Promise<boolean> {
    const isValid = readValue(await this.ask('isBlockhashValid', [blockhash, { commitment: 'confirmed' }]));
    if (typeof isValid !== 'boolean') throw new Error('the node does not say whether the block hash is valid');
    return isValid;
  }

  /** Slots from..to (inclusive, at most 500,000) that have a block; those that the node does not have any more are left out. */
  async slots(from: number, to: number): Promise<number[]> {
    const slots = readList(await this.ask('getBlocks', [from, to, finalized])).map(readNumber);
    if (slots.some((slot, index) => slot < from || slot > to || slot <= (slots[index - 1] ?? -1)))
      throw new Error('the answer is about other slots');
    return slots;
  }

  /** null: the slot has no block. @throws RpcError where the node does not have it (yet). */
  header(slot: number): Promise<Header | null> {
    return this.getBlock(slot, 'none', readHeader);
  }

  /** As `header`, with the accounts of its transactions: a fraction of the whole block. */
  listedBlock(slot: number): Promise<ListedBlock | null> {
    return this.getBlock(slot, 'accounts', readListedBlock);
  }

  /** As `header`, with what its transactions have paid. Where the answer is large, another thread reads it. */
  paidBlock(slot: number): Promise<PaidBlock | null> {
    const request = toRequest('getBlock', [slot, blockOptions('accounts')]);
    return nullIfSkipped(
      this.observe('getBlock', async () => readInThread(await this.rawPost('', request, blocksMs), { slot, mints: this.mints })),
    );
  }

  /** As `header`, with transactions. */
  block(slot: number): Promise<Block | null> {
    return this.getBlock(slot, 'full', readBlock);
  }

  /** Of a finalized transaction; null: the node knows none. */
  async transaction(id: string): Promise<(Executed & { slot: number }) | null> {
    const answer = await this.ask('getTransaction', [
      id,
      { ...finalized, encoding: 'base64', maxSupportedTransactionVersion: latestVersion },
    ]);
    if (answer === null) return null;
    const executed = readExecuted(answer);
    if (executed.id !== id) throw new Error('the answer is about another transaction');
    return { ...executed, slot: readNumber(readObject(answer).slot) };
  }

  /** Of newer blocks too; null where the node knows no such transaction. */
  async signatureStates(ids: string[]): Promise<(SignatureState | null)[]> {
    const states = readList(readValue(await this.ask('getSignatureStatuses', [ids, { searchTransactionHistory: false }])));
    if (states.length !== ids.length) throw new Error('the answer is about other transactions');
    return states.map((state) => {
      if (state === null) return null;
      const { slot, confirmationStatus } = readObject(state);
      return { slot: readNumber(slot), isFinalized: confirmationStatus === 'finalized' };
    });
  }

  /** In the order of the addresses (Base58, at most 100). */
  async accounts(addresses: string[], commitment: 'confirmed' | 'finalized' = 'finalized'): Promise<(Account | null)[]> {
    const answer = await this.ask('getMultipleAccounts', [addresses, { commitment, encoding: 'base64' }]);
    const accounts = readList(readValue(answer)).map(readAccount);
    if (accounts.length !== addresses.length) throw new Error('the answer is about other accounts');
    return accounts;
  }

  /** Lamports that an account of so many bytes has to hold. */
  async minimumBalance(bytes: number): Promise<bigint> {
    return BigInt(readNumber(await this.ask('getMinimumBalanceForRentExemption', [bytes])));
  }

  /** The priority fees of recent blocks that have written to these accounts, millionths of a lamport for a unit: the least that was paid. */
  async recentPrices(accounts: string[]): Promise<bigint[]> {
    const fees = readList(await this.ask('getRecentPrioritizationFees', [accounts]));
    return fees.map((fee) => BigInt(readNumber(readObject(fee).prioritizationFee)));
  }

  /** Executes a transaction on the newest state of this commitment; its signatures are not looked at. */
  async simulate(transaction: Buffer, commitment: 'confirmed' | 'finalized' = 'finalized'): Promise<Simulated> {
    const options = { commitment, encoding: 'base64', sigVerify: false, replaceRecentBlockhash: false };
    const answer = readObject(await this.ask('simulateTransaction', [transaction.toString('base64'), options], estimateMs));
    const { err, unitsConsumed } = readObject(answer.value);
    const slot = readNumber(readObject(answer.context).slot);
    return { slot, error: err ?? null, units: unitsConsumed === undefined ? 0 : readNumber(unitsConsumed) };
  }

  /**
   * Hands signed bytes to the node, which passes them on without a trial, and again every few seconds until a block holds them or their block
   * hash has expired: leaders drop what they have no room for. Its answer is their id. @throws RpcError for a refusal.
   */
  async send(bytes: Hex): Promise<string> {
    const options = { encoding: 'base64', skipPreflight: true };
    return readText(await this.ask('sendTransaction', [fromHex(bytes).toString('base64'), options]));
  }

  private async getBlock<T>(
    slot: number,
    transactionDetails: string,
    read: (slot: number, answer: JsonValue) => T,
  ): Promise<T | null> {
    const answer = await nullIfSkipped(this.ask('getBlock', [slot, blockOptions(transactionDetails)], blocksMs));
    return answer === null ? null : read(slot, answer);
  }

  private ask(method: string, params: JsonValue[], timeoutMs?: number): Promise<JsonValue> {
    return this.observe(method, () => call(this.post, method, params, timeoutMs));
  }

  private async checkIdentity(): Promise<void> {
    const { name, network, genesisHash } = this.chain;
    const found = readHash(await this.ask('getGenesisHash', []));
    if (genesisHash === null && isPublic(found))
      throw new ConfigError(`${this.where} serves a public cluster, which ${name} (${network}) is not`);
    if (genesisHash !== null && found !== genesisHash)
      throw new ConfigError(`${this.where} serves a chain with another genesis block than ${name} (${network})`);
  }
}
