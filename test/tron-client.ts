import { TronChainClient } from '../src/chains/tron/client';
import type { KnownAttempt } from '../src/chains/chain-client';
import type { ChainDefinition, Hex, Prepared, TransactionIntent } from '../src/chains/types';
import { signDigest, tronChain, tronCodec } from './tron';
import type { Holder, TestChain } from './tron-simulator';

export const tronDefinition = (changes: Partial<ChainDefinition> = {}): ChainDefinition => ({ ...tronChain(), ...changes });

/**
 * Later than the chain, which runs ahead of the clock when blocks are made on demand: by more than what has expired is waited for (20 blocks),
 * and so little that the solidified chain does not stand still.
 */
export const clockOf =
  ({ simulator }: TestChain): (() => number) =>
  () =>
    Math.max(Date.now(), simulator.chain.head.timeMs) + 25_000;

/** `names`: of endpoints of the simulator, in the order in which they are asked; without any it is the simulator itself. */
export const connectTron = (
  chain: TestChain,
  names: string[] = [],
  { now = clockOf(chain), ...changes }: Partial<ChainDefinition> & { now?: () => number } = {},
): TronChainClient =>
  new TronChainClient(
    tronDefinition(changes),
    (names.length > 0 ? names.map((name) => `${chain.url}/endpoint/${name}`) : [chain.url]).map((url) => `${url}?rate=1000`),
    now,
  );

export const payTron = (
  from: Holder,
  recipient: string,
  amount: bigint,
  tokenContract: string | null = null,
): TransactionIntent => ({
  from: from.address,
  outputs: [{ recipient, tokenContract, amount }],
});

export interface MadeTransaction {
  intent: TransactionIntent;
  prepared: Prepared;
  unsigned: Hex;
  id: string;
  bytes: Hex;
}

/** Prepared by the client, built by the codec, and signed. */
export async function makeTron(client: TronChainClient, from: Holder, intent: TransactionIntent): Promise<MadeTransaction> {
  const prepared = await client.prepare({ kind: 'first', intent, previous: [] });
  const unsigned = tronCodec.build({ chain: client.chain, intent, kind: 'first', prepared, resources: [] });
  const [payload] = tronCodec.signingPayloads(unsigned, intent.from);
  return {
    intent,
    prepared,
    unsigned,
    ...tronCodec.assemble(unsigned, [signDigest(payload?.digest as Hex, from.key)], intent.from),
  };
}

export const toKnown = ({ intent, prepared, unsigned, id }: MadeTransaction, attempt = 1): KnownAttempt => ({
  ...{ attempt, kind: attempt === 1 ? 'first' : 'reissue', intent, unsigned, messageKey: id, ids: [id] },
  ...{ expiry: prepared.expiry, begunAt: new Date() },
});

export const statusOfTron = async (client: TronChainClient, ...made: MadeTransaction[]) =>
  client.status(made.map((it, index) => toKnown(it, index + 1)));
