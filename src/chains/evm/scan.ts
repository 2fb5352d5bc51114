import { getAddress, hexToBytes, keccak256 } from 'viem';
import type { IsOurs, ScanResult } from '../family';
import type { ChainDefinition, DepositFound, Hex } from '../types';
import { toMessageKey } from './message-key';
import { NodeRefusal, unavailable, type RpcCall } from './rpc';
import { quantity, transferEvent, transferTopic, type RpcBlock, type RpcLog, type RpcReceipt, type RpcTrace } from './rpc-types';

/** First position of value received through a contract's internal call; logs of a receipt never reach it. */
const internalPositions = 1_000_000;

interface Candidate {
  block: RpcBlock;
  txHash: Hex;
  fromKey: string;
  toKey: string;
  tokenContract: string | null;
  amount: bigint;
  /** null: the index of the log, to be read from the receipt. */
  position: number | null;
  logIndex: Hex | null;
}

/**
 * Blocks from..to with the deposits in them, as seen by one node; fewer blocks when the node does not have them all yet. Native
 * value from an internal call of a contract is in no block; it is found where the node offers trace_block and missed where it does
 * not (`facts` remembers which). Income that no transaction carries (validator withdrawals, fee recipients) is not found.
 * @throws GatewayError chain_unavailable when the chain reorganised during the scan: scan again.
 */
export async function scanBlocks(
  call: RpcCall,
  chain: ChainDefinition,
  range: { from: number; to: number },
  isOurs: IsOurs,
  facts: Map<string, unknown>,
): Promise<ScanResult> {
  const blocks = await fetchBlocks(call, range);
  const tip = blocks.at(-1);
  if (!tip) return { blocks: [], scannedTo: range.from - 1 };
  const [logs, traces] = await Promise.all([fetchLogs(call, chain, blocks), fetchInternalTransfers(call, blocks, facts)]);
  // logs were requested by number: they belong to these blocks only if the last block is unchanged
  const again = await call<RpcBlock | null>('eth_getBlockByNumber', [tip.number, false]);
  if (again?.hash !== tip.hash) throw unavailable(chain, 'the chain reorganised during a scan');

  const candidates = [...nativeCandidates(blocks), ...tokenCandidates(chain, blocks, logs), ...traces];
  const senders = blocks.flatMap(({ transactions }) => transactions.map(({ from }) => from.toLowerCase()));
  const ours = await isOurs([...new Set([...candidates.map(({ toKey }) => toKey), ...senders])]);
  const deposits = await confirmed(
    call,
    chain,
    candidates.filter(({ toKey }) => ours.has(toKey)),
  );
  const scans = blocks.map((block) => ({
    number: Number(block.number),
    hash: block.hash,
    parentHash: block.parentHash,
    transactions: block.transactions.map((transaction) => ({
      id: transaction.hash,
      messageKey: ours.has(transaction.from.toLowerCase()) ? toMessageKey(transaction, chain) : null,
    })),
    deposits: deposits.filter(({ blockHash }) => blockHash === block.hash),
  }));
  return { blocks: scans, scannedTo: Number(tip.number) };
}

/** The consecutive blocks from `from`, up to the first that is missing or does not follow its predecessor. */
async function fetchBlocks(call: RpcCall, { from, to }: { from: number; to: number }): Promise<RpcBlock[]> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const answers = await Promise.all(
    numbers.map((number) => call<RpcBlock | null>('eth_getBlockByNumber', [quantity(number), true])),
  );
  const blocks: RpcBlock[] = [];
  for (const block of answers) {
    const previous = blocks.at(-1);
    if (!block || (previous && block.parentHash !== previous.hash)) break;
    blocks.push(block);
  }
  return blocks;
}

/**
 * Transfer events of the registered tokens: one eth_getLogs for the range. A node may return nothing for a block that it has but
 * has not indexed; if the bloom filter of a block indicates such an event, the block is requested again by its hash.
 */
async function fetchLogs(call: RpcCall, chain: ChainDefinition, blocks: RpcBlock[]): Promise<RpcLog[]> {
  const address = chain.tokens.map(({ contract }) => contract as string);
  if (address.length === 0) return [];
  const [first, last] = [blocks[0] as RpcBlock, blocks.at(-1) as RpcBlock];
  const logs = await call<RpcLog[]>('eth_getLogs', [
    { address, topics: [transferTopic], fromBlock: first.number, toBlock: last.number },
  ]);
  const seen = new Set(logs.map(({ blockHash }) => blockHash));
  const doubtful = blocks.filter(({ hash, logsBloom }) => !seen.has(hash) && mayHold(logsBloom, address));
  const more = await Promise.all(
    doubtful.map(({ hash }) => call<RpcLog[]>('eth_getLogs', [{ address, topics: [transferTopic], blockHash: hash }])),
  );
  return [...logs, ...more.flat()];
}

function mayHold(bloom: Hex | undefined, contracts: string[]): boolean {
  return (
    bloom !== undefined &&
    inBloom(bloom, transferTopic) &&
    contracts.some((contract) => inBloom(bloom, contract.toLowerCase() as Hex))
  );
}

/** Membership in a 2048-bit log bloom: three 11-bit indexes from the hash (yellow paper, 4.4.1). */
function inBloom(bloom: Hex, item: Hex): boolean {
  const bits = hexToBytes(bloom);
  const hash = keccak256(hexToBytes(item), 'bytes');
  return [0, 2, 4].every((at) => {
    const bit = (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047;
    return ((bits[255 - (bit >> 3)] as number) & (1 << (bit & 7))) !== 0;
  });
}

function nativeCandidates(blocks: RpcBlock[]): Candidate[] {
  return blocks.flatMap((block) =>
    block.transactions
      .filter(({ to, value }) => to !== null && BigInt(value) > 0n)
      .map(({ hash, from, to, value }) => ({
        block,
        txHash: hash,
        fromKey: from.toLowerCase(),
        toKey: (to as Hex).toLowerCase(),
        tokenContract: null,
        amount: BigInt(value),
        position: 0,
        logIndex: null,
      }))
      .filter(isMovement),
  );
}

function tokenCandidates(chain: ChainDefinition, blocks: RpcBlock[], logs: RpcLog[]): Candidate[] {
  const byHash = new Map(blocks.map((block) => [block.hash, block]));
  const contracts = new Map(chain.tokens.map(({ contract }) => [(contract as string).toLowerCase(), contract]));
  return logs.flatMap((log) => {
    const event = transferEvent(log);
    const block = byHash.get(log.blockHash);
    const tokenContract = event && contracts.get(event.contractKey);
    if (!event || !block || !tokenContract) return [];
    const candidate: Candidate = {
      block,
      txHash: log.transactionHash,
      ...event,
      tokenContract,
      position: null,
      logIndex: log.logIndex,
    };
    return isMovement(candidate) ? [candidate] : [];
  });
}

/** Zero amounts and transfers to oneself move no money. */
const isMovement = ({ amount, fromKey, toKey }: Pick<Candidate, 'amount' | 'fromKey' | 'toKey'>): boolean =>
  amount > 0n && fromKey !== toKey;

async function fetchInternalTransfers(call: RpcCall, blocks: RpcBlock[], facts: Map<string, unknown>): Promise<Candidate[]> {
  if (facts.get('trace_block') === false) return [];
  try {
    const traces = await Promise.all(blocks.map((block) => call<RpcTrace[] | null>('trace_block', [block.number])));
    facts.set('trace_block', true);
    return traces.flatMap((list, index) => internalCandidates(blocks[index] as RpcBlock, list ?? []));
  } catch (error) {
    // after the method has worked once, a failure is an outage and not a missing method: the deposit would never be found
    if (!(error instanceof NodeRefusal) || facts.get('trace_block') === true) throw error;
    facts.set('trace_block', false);
    return [];
  }
}

function internalCandidates(block: RpcBlock, traces: RpcTrace[]): Candidate[] {
  const byTransaction = new Map<Hex, RpcTrace[]>();
  for (const trace of traces) {
    if (trace.transactionHash)
      byTransaction.set(trace.transactionHash, [...(byTransaction.get(trace.transactionHash) ?? []), trace]);
  }
  return [...byTransaction].flatMap(([txHash, list]) => {
    const failed = list.filter(({ error }) => error).map(({ traceAddress }) => traceAddress);
    const undone = (address: number[]) => failed.some((prefix) => prefix.every((step, depth) => address[depth] === step));
    return list.flatMap((trace, index) => {
      const moved = valueMoved(trace);
      if (!moved || trace.traceAddress.length === 0 || undone(trace.traceAddress)) return [];
      const candidate: Candidate = {
        block,
        txHash,
        ...moved,
        tokenContract: null,
        position: internalPositions + index,
        logIndex: null,
      };
      return isMovement(candidate) ? [candidate] : [];
    });
  });
}

function valueMoved({ type, action }: RpcTrace): Pick<Candidate, 'fromKey' | 'toKey' | 'amount'> | null {
  if (type === 'call' && action.callType === 'call' && action.from && action.to) {
    return { fromKey: action.from.toLowerCase(), toKey: action.to.toLowerCase(), amount: BigInt(action.value ?? '0x0') };
  }
  if (type === 'suicide' && action.address && action.refundAddress) {
    return {
      fromKey: action.address.toLowerCase(),
      toKey: action.refundAddress.toLowerCase(),
      amount: BigInt(action.balance ?? '0x0'),
    };
  }
  return null;
}

/** Reads the receipts of the candidates: only successful ones count, and the position of a log is its index within the receipt. */
async function confirmed(call: RpcCall, chain: ChainDefinition, candidates: Candidate[]): Promise<DepositFound[]> {
  const hashes = [...new Set(candidates.map(({ txHash }) => txHash))];
  const receipts = new Map(
    await Promise.all(
      hashes.map(async (hash) => [hash, await call<RpcReceipt | null>('eth_getTransactionReceipt', [hash])] as const),
    ),
  );
  return candidates.flatMap((candidate) => {
    const receipt = receipts.get(candidate.txHash);
    if (receipt?.blockHash !== candidate.block.hash) throw unavailable(chain, 'a receipt of a scanned block is missing');
    if (receipt.status !== '0x1') return [];
    const place = candidate.position ?? receipt.logs.findIndex(({ logIndex }) => logIndex === candidate.logIndex) + 1;
    if (candidate.position === null && place === 0) throw unavailable(chain, 'a receipt lacks a log that its block has');
    return [
      {
        txHash: candidate.txHash,
        position: String(place),
        blockNumber: Number(candidate.block.number),
        blockHash: candidate.block.hash,
        fromAddress: getAddress(candidate.fromKey),
        toAddress: getAddress(candidate.toKey),
        tokenContract: candidate.tokenContract,
        amount: candidate.amount,
      },
    ];
  });
}
