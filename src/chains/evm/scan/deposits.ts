import { getAddress } from 'viem';
import type { ChainDefinition, DepositFound } from '../../types';
import { unavailable } from '../../endpoints';
import type { RpcCall } from '../rpc';
import type { RpcReceipt } from '../rpc-types';
import type { Candidate } from './candidates';

/** Reads the receipts of the candidates: only successful ones count, and the position of a log is its index within the receipt. */
export async function confirmedDeposits(call: RpcCall, chain: ChainDefinition, candidates: Candidate[]): Promise<DepositFound[]> {
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
