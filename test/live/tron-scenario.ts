import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import type { KnownAttempt } from '../../src/chains/chain-client';
import { getFamily } from '../../src/chains/families';
import { TronChainClient } from '../../src/chains/tron/client';
import type { ChainDefinition, FeeLevels, Hex } from '../../src/chains/types';
import { signDigest } from '../tron';
import { type FollowedPayment, followPayment } from './follow-payment';

export interface LiveTronOptions {
  chain: ChainDefinition;
  urls: string[];
  /** 32 bytes; it controls the account that pays, its hash the one that is paid. */
  key: Uint8Array;
  /** Contract of a TRC-20 token that the account has; null: TRX. */
  token: string | null;
}

export interface LiveTronRun extends FollowedPayment {
  levels: FeeLevels;
  from: string;
  to: string;
  id: string;
  feeBound: bigint;
}

/** Sun, or atomic units of the token. */
export const liveAmount = 1_000n;

/** A payment as the gateway makes and sees it, from preparing to the deposit. `pollMs`: between two looks at it. */
export async function runLiveTron({ chain, urls, key, token }: LiveTronOptions, pollMs = 5_000): Promise<LiveTronRun> {
  const client = new TronChainClient(chain, urls);
  const family = getFamily(chain.family);
  const payee = Uint8Array.from(createHash('sha256').update(key).digest());
  const [from, to] = [key, payee].map((secret) => family.address(secp256k1.getPublicKey(secret, true)).address) as [
    string,
    string,
  ];
  await client.verifyIdentity();
  const levels = await client.feeLevels();
  const intent = { from, outputs: [{ recipient: to, tokenContract: token, amount: liveAmount }] };
  const prepared = await client.prepare({ kind: 'first', intent, previous: [] }).catch((error: unknown) => {
    throw new Error(`nothing could be prepared; ${from} needs TRX${token ? ` and ${liveAmount} units of ${token}` : ''}`, {
      cause: error,
    });
  });
  const unsigned = family.build({ chain, intent, kind: 'first', prepared, resources: [] });
  const digests = family.signingPayloads(unsigned, from).map(({ digest }) => digest);
  const { id, bytes } = family.assemble(unsigned, [signDigest(digests[0] as Hex, key)], from);
  const attempt: KnownAttempt = {
    ...{ attempt: 1, kind: 'first', intent, unsigned, messageKey: id, ids: [id] },
    ...{ expiry: prepared.expiry, begunAt: new Date() },
  };
  const followed = await followPayment(client, { attempt, bytes, to, pollMs, sendsAgain: false });
  return { levels, from, to, id, ...followed, feeBound: BigInt(prepared.feeBound) };
}

/** What is true of every run that went well. */
export function expectPaid({ from, to, id, sent, first, last, feeBound, block }: LiveTronRun, token: string | null): void {
  expect(sent).toEqual([{ outcome: 'accepted' }, { outcome: 'accepted' }]);
  expect(first?.state).toMatch(/^(pending|included)$/);
  expect(last).toMatchObject({ state: 'included', id, effect: { success: true, debited: liveAmount, received: liveAmount } });
  if (last?.state === 'included') expect(last.effect.fee).toBeLessThanOrEqual(feeBound);
  expect(block?.deposits).toContainEqual(
    expect.objectContaining({ txHash: id, fromAddress: from, toAddress: to, tokenContract: token, amount: liveAmount }),
  );
}
