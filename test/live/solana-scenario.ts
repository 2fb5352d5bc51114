import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ed25519 } from '@noble/curves/ed25519.js';
import type { AttemptStatus, BlockScan, BroadcastOutcome, KnownAttempt } from '../../src/chains/chain-client';
import { getFamily } from '../../src/chains/families';
import { SolanaChainClient } from '../../src/chains/solana/client';
import type { ChainDefinition, FeeLevels, Hex } from '../../src/chains/types';
import { signMessage } from '../solana';

export interface LiveSolanaOptions {
  chain: ChainDefinition;
  urls: string[];
  /** 32 bytes; it controls the account that pays, its hash the one that is paid. */
  key: Uint8Array;
  /** Mint of a token that the account has; null: SOL. */
  token: string | null;
}

interface LiveSolanaRun {
  levels: FeeLevels;
  from: string;
  to: string;
  amount: bigint;
  id: string;
  sent: BroadcastOutcome[];
  first: AttemptStatus | undefined;
  /** Once it is finalized. */
  last: AttemptStatus | undefined;
  feeBound: bigint;
  block: BlockScan | undefined;
}

/** Lamports: more than an account that is new to the chain has to have. */
const liveLamports = 1_000_000n;
/** Atomic units. */
const liveTokens = 1_000n;
/** Until the transaction is finalized, which takes 15 seconds on the real networks; or has expired, after a minute and a half. */
const maxPolls = 60;

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
  const look = async () => (await client.status([attempt]))[0];
  const sent = [await client.broadcast(bytes), await client.broadcast(bytes)];
  const first = await look();
  let last = first;
  for (let poll = 0; poll < maxPolls && last?.state !== 'included' && last?.state !== 'impossible'; poll += 1) {
    await delay(pollMs);
    // as the gateway does for what a leader has not taken
    if (last?.state === 'absent') await client.broadcast(bytes);
    last = await look();
  }
  const number = last?.state === 'included' ? last.effect.blockNumber : null;
  const all = (keys: string[]) => Promise.resolve(new Set(keys.filter((it) => it === family.parseAddress(to)?.key)));
  const block = number === null ? undefined : (await client.scan(number, number, all)).blocks[0];
  return { levels, from, to, amount, id, sent, first, last, feeBound: BigInt(prepared.feeBound), block };
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
