import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import type { KnownAttempt } from '../../src/chains/chain-client';
import { getFamily } from '../../src/chains/families';
import { SolanaChainClient } from '../../src/chains/solana/client';
import type { ChainDefinition, FeeLevels, Hex } from '../../src/chains/types';
import { signMessage } from '../solana';
import { type FollowedPayment, followPayment } from './follow-payment';

export interface LiveSolanaOptions {
  chain: ChainDefinition;
  urls: string[];
  /** 32 bytes; it controls the account that pays, its hash the one that is paid. */
  key: Uint8Array;
  /** Mint of a token that the account has; null: SOL. */
  token: string | null;
}

interface LiveSolanaRun extends FollowedPayment {
  levels: FeeLevels;
  from: string;
  to: string;
  amount: bigint;
  id: string;
  feeBound: bigint;
}

/** Lamports: more than an account that is new to the chain has to have. */
const liveLamports = 1_000_000n;
/** Atomic units. */
const liveTokens = 1_000n;

/** A payment as the gateway makes and sees it, from preparing to the deposit. `pollMs`: between two looks at it. */
export async function runLiveSolana({ chain, urls, key, token }: LiveSolanaOptions, pollMs = 3_000): Promise<LiveSolanaRun> {
  const client = new SolanaChainClient(chain, urls);
  const family = getFamily(chain.family);
  const payee = Uint8Array.from(createHash('sha256').update(key).digest());
  const [from, to] = [key, payee].map((secret) => family.address(ed25519.getPublicKey(secret)).address) as [string, string];
  const amount = token === null ? liveLamports : liveTokens;
  await client.verifyIdentity();
  const levels = await client.feeLevels();
  const intent = { from, outputs: [{ recipient: to, tokenContract: token, amount }] };
  const prepared = await client.prepare({ kind: 'first', intent, previous: [] }).catch((error: unknown) => {
    throw new Error(`nothing could be prepared; ${from} needs SOL${token ? ` and ${amount} units of ${token}` : ''}`, {
      cause: error,
    });
  });
  const unsigned = family.build({ chain, intent, kind: 'first', prepared, resources: [] });
  const [payload] = family.signingPayloads(unsigned, from);
  const { id, bytes } = family.assemble(unsigned, [signMessage(payload?.message as Hex, key)], from);
  const attempt: KnownAttempt = {
    ...{ attempt: 1, kind: 'first', intent, unsigned, messageKey: family.messageKey(unsigned, from), ids: [id] },
    ...{ expiry: prepared.expiry, begunAt: new Date() },
  };
  const followed = await followPayment(client, { attempt, bytes, to, pollMs, sendsAgain: true });
  return { levels, from, to, amount, id, ...followed, feeBound: BigInt(prepared.feeBound) };
}

/** What is true of every run that went well. */
export function expectPaid(run: LiveSolanaRun, token: string | null): void {
  const { levels, from, to, amount, id, sent, first, last, feeBound, block } = run;
  expect(levels).toEqual({ price: expect.stringMatching(/^\d+$/) });
  expect(sent).toEqual([{ outcome: 'accepted' }, { outcome: 'accepted' }]);
  expect(first?.state).toMatch(/^(absent|pending|included)$/);
  expect(last).toMatchObject({ state: 'included', id, effect: { success: true, debited: amount, received: amount } });
  if (last?.state === 'included') expect(last.effect.fee).toBeLessThanOrEqual(feeBound);
  expect(block?.deposits).toContainEqual(
    expect.objectContaining({ txHash: id, fromAddress: from, toAddress: to, tokenContract: token, amount }),
  );
}
