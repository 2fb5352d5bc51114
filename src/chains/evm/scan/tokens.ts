import type { ChainDefinition, Hex } from '../../types';
import type { RpcCall } from '../rpc';
import { transferEvent, transferTopic, type RpcBlock, type RpcLog } from '../rpc-types';
import { inBloom } from './bloom';
import { type Candidate, isPayment } from './candidates';

/** Transfers of the registered tokens. */
export async function tokenCandidates(call: RpcCall, chain: ChainDefinition, blocks: RpcBlock[]): Promise<Candidate[]> {
  const logs = await fetchLogs(call, chain, blocks);
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
    return isPayment(candidate) ? [candidate] : [];
  });
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
