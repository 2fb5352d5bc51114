import type { Hex } from '../../types';
import type { RpcBlock } from '../rpc-types';

/** A payment in a scanned block; a deposit if it is to an address of ours and its transaction was not reverted. */
export interface Candidate {
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

/** Zero amounts and transfers to oneself pay nobody. */
export const isPayment = ({ amount, fromKey, toKey }: Pick<Candidate, 'amount' | 'fromKey' | 'toKey'>): boolean =>
  amount > 0n && fromKey !== toKey;

/** Native value of the transactions themselves. */
export function nativeCandidates(blocks: RpcBlock[]): Candidate[] {
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
      .filter(isPayment),
  );
}
