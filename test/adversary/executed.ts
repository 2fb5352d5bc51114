import { Block } from 'bitcoinjs-lib';
import { createPublicClient, http } from 'viem';
import { createRpcCall } from '../../src/chains/bitcoin/rpc';
import { quantity, type RpcLog } from '../../src/chains/evm/rpc-types';
import { getChains } from '../../src/chains/registry/data';
import type { ChainDefinition } from '../../src/chains/types';
import { houseClientId } from '../../src/platform/house';
import { stack } from '../stack/client';
import { ExecutedOnBitcoin } from './executed-bitcoin';
import { executedOnEvm, movingTopics } from './executed-evm';
import { executedOnSolana } from './executed-solana';
import { executedOnTron, type TronTransaction } from './executed-tron';
import { gatewayQuery } from './processes';
import type { Executed, Owner } from './record-differences';

const blocksAtOnce = 50;
/** btcd answers 503 to more than ten connections, and the gateway has some. */
const bitcoinBlocksAtOnce = 4;

/** Everything in the blocks of the running stack's chains that accounts of the gateway must have signed. */
export async function* executedOnChains(): AsyncIterable<Executed> {
  for (const chain of getChains('local')) {
    const { rpc } = stack().chains[chain.name] ?? {};
    if (rpc !== undefined) yield* walkOf(chain)(rpc, chain);
  }
}

type Walk = (rpc: string, chain: ChainDefinition) => AsyncIterable<Executed>;

/** By the namespace of CAIP-2. @throws Error for a chain whose transactions are not read here. */
function walkOf({ caip2 }: ChainDefinition): Walk {
  const [namespace = ''] = caip2.split(':');
  const walk = ({ eip155: evm, bip122: bitcoin, tron, solana } as Record<string, Walk>)[namespace];
  if (!walk) throw new Error(`the records of ${caip2} are not checked`);
  return walk;
}

/** Of every account, by the canonical form of its address. */
async function ownKeys({ family }: ChainDefinition): Promise<Map<string, Owner>> {
  const rows = await gatewayQuery<{ key: string; owner: Owner }>(
    `select address_key as key, case client_id when $1 then 'house' else 'client' end as owner from accounts where family = $2`,
    [houseClientId, family],
  );
  return new Map(rows.map(({ key, owner }) => [key, owner]));
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

async function* evm(rpc: string, chain: ChainDefinition): AsyncIterable<Executed> {
  const own = await ownKeys(chain);
  const node = createPublicClient({ transport: http(rpc) });
  const head = Number(await node.getBlockNumber());
  const readLogs = (fromBlock: number, toBlock: number) =>
    node.request<{ Method: 'eth_getLogs'; Parameters: [object]; ReturnType: RpcLog[] }>({
      method: 'eth_getLogs',
      params: [{ fromBlock: quantity(fromBlock), toBlock: quantity(toBlock), topics: [movingTopics] }],
    });
  for (let from = 1; from <= head; from += blocksAtOnce) {
    const to = Math.min(from + blocksAtOnce - 1, head);
    const readBlock = (number: number) => node.getBlock({ blockNumber: BigInt(number), includeTransactions: true });
    const [logs, ...blocks] = await Promise.all([readLogs(from, to), ...range(from, to).map(readBlock)]);
    for (const transaction of blocks.flatMap(({ transactions }) => transactions)) {
      const ofTransaction = logs.filter(({ transactionHash }) => transactionHash === transaction.hash);
      yield* executedOnEvm(transaction, ofTransaction, chain, own);
    }
  }
}

async function* bitcoin(rpc: string, chain: ChainDefinition): AsyncIterable<Executed> {
  const executed = new ExecutedOnBitcoin(await ownKeys(chain));
  const call = createRpcCall(rpc);
  const head = await call<number>('getblockcount', []);
  const readBlock = async (height: number) =>
    Block.fromHex(await call<string>('getblock', [await call<string>('getblockhash', [height]), 0]));
  for (let from = 1; from <= head; from += bitcoinBlocksAtOnce) {
    const blocks = await Promise.all(range(from, Math.min(from + bitcoinBlocksAtOnce - 1, head)).map(readBlock));
    for (const { transactions = [] } of blocks) for (const transaction of transactions) yield* executed.next(transaction);
  }
}

interface TronBlock {
  block_header: { raw_data: { number?: number } };
  transactions?: TronTransaction[];
}

async function* tron(rpc: string, chain: ChainDefinition): AsyncIterable<Executed> {
  const own = await ownKeys(chain);
  const ask = async <T>(path: string, body: object): Promise<T> => {
    const response = await fetch(`${rpc}/wallet/${path}`, { method: 'POST', body: JSON.stringify(body) });
    return (await response.json()) as T;
  };
  const head = (await ask<TronBlock>('getnowblock', {})).block_header.raw_data.number ?? 0;
  for (let from = 1; from <= head; from += blocksAtOnce) {
    const { block = [] } = await ask<{ block?: TronBlock[] }>('getblockbylimitnext', {
      startNum: from,
      endNum: from + blocksAtOnce,
    });
    for (const { transactions = [] } of block) for (const transaction of transactions) yield* executedOnTron(transaction, own);
  }
}

async function* solana(rpc: string, chain: ChainDefinition): AsyncIterable<Executed> {
  const own = await ownKeys(chain);
  const call = createSolanaCall(rpc);
  const [first, head] = [await call<number>('getFirstAvailableBlock', []), await call<number>('getSlot', [])];
  const options = { encoding: 'base64', transactionDetails: 'full', maxSupportedTransactionVersion: 0, rewards: false };
  for (let from = first; from <= head; from += blocksAtOnce) {
    const slots = await call<number[]>('getBlocks', [from, Math.min(from + blocksAtOnce - 1, head)]);
    const blocks = await Promise.all(slots.map((slot) => call<SolanaBlock>('getBlock', [slot, options])));
    for (const { transactions } of blocks)
      for (const { transaction } of transactions) yield* executedOnSolana(transaction[0], own);
  }
}

interface SolanaBlock {
  transactions: { transaction: [encoded: string, encoding: string] }[];
}

const createSolanaCall =
  (rpc: string) =>
  async <T>(method: string, params: unknown[]): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
    if (error) throw new Error(error.message);
    return result;
  };
