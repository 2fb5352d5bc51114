import { setTimeout as delay } from 'node:timers/promises';
import type { AttemptStatus, BlockScan, BroadcastOutcome, ChainClient, KnownAttempt } from '../../src/chains/chain-client';
import { getFamily } from '../../src/chains/families';
import type { Hex } from '../../src/chains/types';

/** Looks until the transaction is final or has expired; after that a test ends. */
const maxPolls = 60;

export interface LivePayment {
  attempt: KnownAttempt;
  bytes: Hex;
  /** The address that is paid. */
  to: string;
  /** Between two looks. */
  pollMs: number;
  /** As the gateway does for what a leader has not taken. */
  sendsAgain: boolean;
}

export interface FollowedPayment {
  /** The same bytes are sent twice. */
  sent: BroadcastOutcome[];
  first: AttemptStatus | undefined;
  /** Once it is final. */
  last: AttemptStatus | undefined;
  /** The block that holds it, as deposits are looked for. */
  block: BlockScan | undefined;
}

/** Of a chain that needs no more than the attempts to say their states. */
type LiveClient = Pick<ChainClient, 'chain' | 'broadcast' | 'scan'> & {
  status(attempts: KnownAttempt[]): Promise<AttemptStatus[]>;
};

/** Sends a signed payment, follows it until it is final or expired, and scans its block. */
export async function followPayment(
  client: LiveClient,
  { attempt, bytes, to, pollMs, sendsAgain }: LivePayment,
): Promise<FollowedPayment> {
  const key = getFamily(client.chain.family).parseAddress(to)?.key;
  const look = async () => (await client.status([attempt]))[0];
  const sent = [await client.broadcast(bytes), await client.broadcast(bytes)];
  const first = await look();
  let last = first;
  for (let poll = 0; poll < maxPolls && last?.state !== 'included' && last?.state !== 'impossible'; poll += 1) {
    await delay(pollMs);
    if (sendsAgain && last?.state === 'absent') await client.broadcast(bytes);
    last = await look();
  }
  const number = last?.state === 'included' ? last.effect.blockNumber : null;
  const all = (keys: string[]) => Promise.resolve(new Set(keys.filter((it) => it === key)));
  const block = number === null ? undefined : (await client.scan(number, number, all)).blocks[0];
  return { sent, first, last, block };
}
