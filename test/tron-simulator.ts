import { secp256k1 } from '@noble/curves/secp256k1.js';
import { TronWeb } from 'tronweb';
import { addressOfKey, sha256, sign, toBase58 } from '../dev/tron/address';
import { buildTransaction } from '../dev/tron/build';
import { transactionId } from '../dev/tron/json';
import { type RawTransaction, type Transaction, transactionSchema } from '../dev/tron/messages';
import { encode } from '../dev/tron/protobuf';
import { referenceOf } from '../dev/tron/blocks';
import { type Simulator, type SimulatorOptions, startSimulator } from '../dev/tron/simulator';

export const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
export const trx = (amount: number): bigint => BigInt(amount) * 1_000_000n;

export interface Holder {
  key: Buffer;
  bytes: Buffer;
  address: string;
}

/** A new key with its address. */
export function newHolder(): Holder {
  const key = Buffer.from(secp256k1.utils.randomSecretKey());
  const bytes = addressOfKey(key);
  return { key, bytes, address: toBase58(bytes) };
}

type Body = Record<string, unknown>;
/** Parsed JSON. */
type Answer = ReturnType<typeof JSON.parse>;

const started = new Set<Simulator>();

/** Of a contract that sends what it is called with to the address in its calldata, and logs nothing. */
const forwarderCode = '60008060008034600035620f4240f100';
/** Of a contract that calls another one with its own calldata. */
const relayCode = (to: Buffer): string => `365f5f375f5f365f5f73${to.subarray(1).toString('hex')}5af100`;

/** A simulator that makes blocks only when it is told to. */
export class TestChain {
  private constructor(readonly simulator: Simulator) {}

  static async start(options: Partial<SimulatorOptions> = {}): Promise<TestChain> {
    const simulator = await startSimulator({ isMining: false, blockMs: 100, ...options });
    started.add(simulator);
    return new TestChain(simulator);
  }

  get url(): string {
    return this.simulator.url;
  }

  tronWeb(holder?: Holder, url = this.url): TronWeb {
    return new TronWeb({ fullHost: url, ...(holder ? { privateKey: holder.key.toString('hex') } : {}) });
  }

  /** The JSON that a path answers. */
  async post(path: string, body: Body = {}): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    return response.json();
  }

  async control(path: string, body: Body = {}): Promise<Answer> {
    const answer = await this.post(`/simulator/${path}`, body);
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  /** A new account with so many sun, and tokens. */
  async funded(sun = trx(1_000), tokens = 0n): Promise<Holder> {
    const holder = newHolder();
    await this.control('faucet', { address: holder.address, amount: String(sun) });
    if (tokens > 0n) await this.control('faucet', { address: holder.address, amount: String(tokens), token: 'USDT' });
    return holder;
  }

  /** A new contract with this bytecode. */
  async contract(code: string): Promise<Holder> {
    const contract = newHolder();
    await this.control('contract', { address: contract.address, code });
    return contract;
  }

  readonly newForwarder = (): Promise<Holder> => this.contract(forwarderCode);
  readonly newRelay = (to: Buffer): Promise<Holder> => this.contract(relayCode(to));

  /** In a block: a forwarder sends so much on. `to`: canonical form. */
  forward(payer: Holder, forwarder: Holder, to: string, amount: bigint): Promise<Answer> {
    return this.include(this.call(payer, forwarder.bytes, to.slice(2).padStart(64, '0'), {}, amount), payer);
  }

  /** What a full node shows, in sun. */
  async balance({ address }: Holder, tree: 'wallet' | 'walletsolidity' = 'wallet'): Promise<bigint> {
    const account = await this.post(`/${tree}/getaccount`, { address, visible: true });
    return BigInt(account.balance ?? 0);
  }

  transfer(from: Holder, to: Holder, amount: bigint, changes: Partial<RawTransaction> = {}): Transaction {
    const parameter = { owner_address: from.bytes, to_address: to.bytes, amount };
    return change(buildTransaction(this.simulator.chain, 'TransferContract', parameter), changes);
  }

  call(from: Holder, contract: Buffer, data: string, changes: Partial<RawTransaction> = {}, value = 0n): Transaction {
    const parameter = {
      ...{ owner_address: from.bytes, contract_address: contract, data: Buffer.from(data, 'hex') },
      ...{ call_value: value, call_token_value: 0n, token_id: 0n },
    };
    return change(buildTransaction(this.simulator.chain, 'TriggerSmartContract', parameter), { fee_limit: trx(100), ...changes });
  }

  /** The reference to the head block, as tronweb takes it; the node takes a solidified one. */
  onHead(): Pick<RawTransaction, 'ref_block_bytes' | 'ref_block_hash'> {
    const { bytes, hash } = referenceOf(this.simulator.chain.head);
    return { ref_block_bytes: bytes, ref_block_hash: hash };
  }

  /** The node's answer to signed bytes. */
  send(bytes: Buffer): Promise<Answer> {
    return this.post('/wallet/broadcasthex', { transaction: bytes.toString('hex') });
  }

  /** Signs, sends and includes; returns the TransactionInfo. */
  async include(transaction: Transaction, { key }: Holder): Promise<Answer> {
    const answer = await this.send(signed(transaction, key));
    if (!answer.result) throw new Error(`${answer.code}: ${answer.message}`);
    await this.control('mine');
    return this.post('/wallet/gettransactioninfobyid', { value: answer.txid });
  }

  stop(): Promise<void> {
    started.delete(this.simulator);
    return this.simulator.stop();
  }

  /** Also those of tests that failed. */
  static async stopAll(): Promise<void> {
    await Promise.all([...started].map((simulator) => simulator.stop()));
    started.clear();
  }
}

export function change(transaction: Transaction, changes: Partial<RawTransaction>): Transaction {
  return { ...transaction, raw_data: { ...(transaction.raw_data as RawTransaction), ...changes } };
}

/** The bytes of the transaction with signatures over its id. */
export function signed(transaction: Transaction, ...keys: Buffer[]): Buffer {
  const signature = keys.map((key) => sign(transactionId(transaction), key));
  return encode(transactionSchema, { ...transaction, signature });
}

/** Bytes around a raw_data that is encoded in another way, signed over those bytes or over other ones. */
export function wrap(raw: Buffer, key: Buffer, signedBytes = raw): Buffer {
  return encode(
    { 1: { name: 'raw', kind: 'bytes' }, 2: { name: 'signature', kind: 'bytes' } },
    { raw, signature: sign(sha256(signedBytes), key) },
  );
}

const word = (value: bigint | Buffer): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.subarray(1).toString('hex')).padStart(64, '0');

/** Data of transfer(address,uint256). */
export const transferData = (to: Holder, amount: bigint): string => `a9059cbb${word(to.bytes)}${word(amount)}`;
