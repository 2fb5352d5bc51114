import { ConfigError } from '../../platform/config';
import { rpcUrlsVariable } from '../config';
import { type Endpoint, once } from '../endpoints';
import type { ChainDefinition, Hex, JsonObject } from '../types';
import { estimateMs } from '../unanswered';
import {
  type Block,
  type Header,
  readBlock,
  readHeader,
  readList,
  readNumber,
  readObject,
  readReceipt,
  type Receipt,
} from './answers';
import { type ConstantCall, readConstantCall } from './constant-call';
import { NoAnswer } from '../no-answer';
import { type ObserveCall, observeCalls } from '../observed-calls';
import { assertBelievable } from './fees';
import { SeenSaving } from './internal';
import { createPacedPost, type PacedPost } from '../paced-post';
import { type Parameters, readParameters } from './parameters';
import type { Paces } from '../request-rate';
import { parseEndpoint } from './url';

export interface Account {
  exists: boolean;
  isContract: boolean;
  /** Sun. */
  balance: bigint;
}

/** What an account need not burn TRX for. */
export interface Resources {
  /** Bytes: the larger one of its two kinds, since a transaction takes one of them. */
  bandwidth: bigint;
  energy: bigint;
}

/** A head that is older stands still, unless it is the chain that does. */
const maxAgeBlocks = 60;
const parametersForMs = 60_000;
/** Of full blocks: only the follower and proofs ask for them, and nobody waits for a single one. */
const blocksMs = 60_000;

/** A node of java-tron, or a service that answers as one: /wallet shows what is newest, /walletsolidity what is solidified. */
export class TronNode implements Endpoint {
  /** With its port. */
  readonly host: string;
  /** Of internal transactions. */
  readonly saving: SeenSaving;
  private readonly post: PacedPost;
  private readonly observe: ObserveCall;
  private readonly where: string;
  private known: { parameters: Parameters; at: number } | undefined;

  /**
   * `position`: of its url in the configuration, from 1. `now`: the gateway's own clock, milliseconds since the epoch.
   * @throws ConfigError
   */
  constructor(
    private readonly chain: ChainDefinition,
    url: string,
    position: number,
    private readonly now: () => number,
    paces: Paces,
  ) {
    this.where = `${rpcUrlsVariable(chain.name)} entry ${position}`;
    const target = parseEndpoint(url, this.where, paces);
    this.host = new URL(target.base).host;
    this.saving = new SeenSaving(now);
    this.post = createPacedPost(target);
    this.observe = observeCalls({ chain: chain.name, url: target.base, isRefusal: () => false });
  }

  readonly identify = once(() => this.checkIdentity());

  /** The newest solidified block. @throws NoAnswer when it is too old: the endpoint says nothing new. */
  async solidHead(): Promise<Header> {
    const head = readHeader(await this.ask('/walletsolidity/getblock', { detail: false }));
    if (!head) throw new Error('the node has no solidified block');
    if (head.number > 0 && head.timeMs < this.now() - maxAgeBlocks * this.chain.blockTimeMs)
      throw new NoAnswer('the solidified chain stands still');
    return head;
  }

  /** null: it is not solidified yet, or older than what the node keeps. */
  async solidHeader(number: number): Promise<Header | null> {
    const header = readHeader(await this.ask('/walletsolidity/getblock', { id_or_num: String(number), detail: false }));
    if (header && header.number !== number) throw new Error('the answer is about another block');
    return header;
  }

  /** Solidified blocks from..to (inclusive), as far as the node has them one after the other. */
  async solidBlocks(from: number, to: number): Promise<Block[]> {
    const answer = await this.ask('/walletsolidity/getblockbylimitnext', { startNum: from, endNum: to + 1 }, blocksMs);
    const blocks = readList(readObject(answer).block).map(readBlock);
    const gap = blocks.findIndex(
      ({ number, parentId }, index) => number !== from + index || (index > 0 && parentId !== blocks[index - 1]?.id),
    );
    return gap < 0 ? blocks : blocks.slice(0, gap);
  }

  /** Of the transactions in a solidified block. */
  async receipts(number: number): Promise<Receipt[]> {
    const answer = await this.ask('/walletsolidity/gettransactioninfobyblocknum', { num: number }, blocksMs);
    if (!Array.isArray(answer)) throw new Error('the answer is no list');
    return answer.map(readReceipt).filter((receipt) => receipt !== null);
  }

  /** Of a solidified transaction; null: there is none. */
  async findReceipt(id: string): Promise<Receipt | null> {
    const receipt = readReceipt(await this.ask('/walletsolidity/gettransactioninfobyid', { value: id }));
    if (receipt && receipt.id !== id) throw new Error('the answer is about another transaction');
    return receipt;
  }

  /** It waits for a block, or is in one, solidified or not. */
  async isKnown(id: string): Promise<boolean> {
    return readObject(await this.ask('/wallet/gettransactionbyid', { value: id })).txID === id;
  }

  /** `address`: canonical form. */
  async account(address: string): Promise<Account> {
    const { address: found, type, balance } = readObject(await this.ask('/wallet/getaccount', { address }));
    // beyond what a number holds exactly it is more than anybody is paid
    const sun = typeof balance === 'number' && balance > 0 ? BigInt(Math.trunc(balance)) : 0n;
    return { exists: found !== undefined, isContract: type === 'Contract', balance: sun };
  }

  /** Sun that an account has by the solidified blocks. `address`: canonical form. */
  async solidBalance(address: string): Promise<bigint> {
    const { balance = 0 } = readObject(await this.ask('/walletsolidity/getaccount', { address }));
    return BigInt(readNumber(balance));
  }

  /** What a call returns by the solidified blocks, in bytes. Addresses: canonical form. @throws Error for one that fails. */
  async solidCall(owner: string, contract: string, data: Buffer): Promise<Buffer> {
    const body = { owner_address: owner, contract_address: contract, data: data.toString('hex') };
    const answer = await this.ask('/walletsolidity/triggerconstantcontract', body);
    if (readConstantCall(answer).outcome !== 'succeeded') throw new Error('the call has failed');
    const [result] = readList(readObject(answer).constant_result);
    if (typeof result !== 'string' || !/^([0-9a-f]{2})*$/i.test(result)) throw new Error('the answer has no result');
    return Buffer.from(result, 'hex');
  }

  async resources(address: string): Promise<Resources> {
    const answer = readObject(await this.ask('/wallet/getaccountresource', { address }));
    const left = (limit: string, used: string) => Math.max(0, readNumber(answer[limit]) - readNumber(answer[used]));
    const bandwidth = Math.max(left('freeNetLimit', 'freeNetUsed'), left('NetLimit', 'NetUsed'));
    return { bandwidth: BigInt(bandwidth), energy: BigInt(left('EnergyLimit', 'EnergyUsed')) };
  }

  /** At most a minute old. @throws EndpointFault for what is not believed. */
  async parameters(): Promise<Parameters> {
    if (!this.known || this.known.at < this.now() - parametersForMs) {
      const parameters = readParameters(await this.ask('/wallet/getchainparameters', {}));
      assertBelievable(this.chain, parameters);
      this.known = { parameters, at: this.now() };
    }
    return this.known.parameters;
  }

  /** Executes a call without a transaction. Addresses: canonical form. */
  async call(owner: string, contract: string, data: Buffer): Promise<ConstantCall> {
    const body = { owner_address: owner, contract_address: contract, data: data.toString('hex') };
    return readConstantCall(await this.ask('/wallet/triggerconstantcontract', body, estimateMs));
  }

  /** The node's answer to signed bytes. */
  async send(bytes: Hex): Promise<JsonObject> {
    return readObject(await this.ask('/wallet/broadcasthex', { transaction: bytes.slice(2) }));
  }

  private ask(path: string, body: object, timeoutMs?: number): Promise<unknown> {
    return this.observe(path, () => this.post(path, body, timeoutMs));
  }

  private async checkIdentity(): Promise<void> {
    const { name, network, genesisHash } = this.chain;
    if (genesisHash !== null) {
      const genesis = readHeader(await this.ask('/wallet/getblockbynum', { num: 0 }));
      if (!genesis) throw new Error('the node does not show its first block');
      if (genesis.id !== genesisHash)
        throw new ConfigError(`${this.where} serves a chain with another genesis block than ${name} (${network})`);
    }
    if (network !== 'local') return;
    // the same bytes may be executed by a real network, if the block they refer to is one of its own
    const { configNodeInfo } = readObject(await this.ask('/wallet/getnodeinfo', {}));
    if (readObject(configNodeInfo).codeVersion !== 'simulator')
      throw new ConfigError(`${this.where} is not the simulator, but the environment is local`);
  }
}
