import type { Log } from './answers';

/** keccak256("Transfer(address,address,uint256)"). */
const topic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

export interface TransferEvent {
  /** Canonical forms. */
  contract: string;
  from: string;
  to: string;
  /** Atomic units. */
  amount: bigint;
}

const toKey = (word: string): string => `41${word.slice(24)}`;

/** null for any other event. */
export function readTransfer({ contract, topics, data }: Log): TransferEvent | null {
  const [first, from, to, ...others] = topics;
  if (first !== topic || from === undefined || to === undefined || others.length > 0 || data.length !== 64) return null;
  return { contract: `41${contract}`, from: toKey(from), to: toKey(to), amount: BigInt(`0x${data}`) };
}
