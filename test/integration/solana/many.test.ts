import { setTimeout as delay } from 'node:timers/promises';
import { address } from '@solana/kit';
import { parseUnits } from 'viem';
import { associatedTokenAddress } from '../../../dev/solana/addresses';
import { programs } from '../../../dev/solana/parameters';
import { verifyLedger } from '../../../src/ledger/verify';
import { newId } from '../../../src/platform/ids';
import { solanaFixture } from '../../families/solana';
import { sol, usdc } from '../../solana-chain';
import { ServedChain } from '../transfers/served';
import { createSolanaFixture, type SolanaFixture } from './fixture';
import { type Withholding, WithholdingPeer } from './withholding-peer';

/** Many transfers at once, followed as the worker follows them, on a chain that forgets some of what it is sent. */

const transfers = 200;
const atOnce = 50;
/** Of a hundred messages, that no leader ever gets. */
const lostPercent = 10;
/** Sent ones that a leader takes late, shortly before they expire: nothing may be issued anew in their place. */
const late = { count: 10, blocks: 100 };
const slotMs = 100;
/** A block hash expires within 17 seconds, and one reissue in ten is lost as well: six in a row are not. */
const longestMs = 300_000;
const pollMs = 250;
jest.setTimeout(longestMs + 120_000);

const each = { SOL: '0.01', USDC: '1' };
type Coin = keyof typeof each;
const decimals = { SOL: 9, USDC: 6 };
/** Twenty transfers to each are alike but for their coin. */
const recipients = Array.from({ length: 10 }, () => solanaFixture.newAddress());

const served = new ServedChain<SolanaFixture>(async () => {
  const fixture = await createSolanaFixture({ slotMs, changes: { blockTimeMs: slotMs, stuckAfterMs: 5_000 } });
  await fixture.send(fixture.alice, sol(100));
  await fixture.send(fixture.alice, 500_000_000n, 'USDC');
  await fixture.mine(fixture.chain.confirmations);
  await fixture.follow();
  return fixture;
});

interface Plan {
  coin: Coin;
  withheld: Withholding | undefined;
  toAddress: string | undefined;
}

/** Of each fourth transfer USDC; a peer withholds the signatures of each tenth, of both coins. */
const planOf = (place: number): Plan => ({
  coin: place % 4 === 3 ? 'USDC' : 'SOL',
  withheld: place % 20 === 14 ? 'once' : place % 20 === 3 ? 'always' : undefined,
  toAddress: recipients[place % recipients.length],
});

/** What an address has, atomic units. */
async function received(owner: string, coin: Coin): Promise<bigint> {
  const { solana } = served.fixture;
  if (coin === 'SOL') return solana.balance(owner);
  const account = await associatedTokenAddress(address(owner), usdc, programs.token);
  const { value } = await solana.rpc.getTokenAccountBalance(account, { commitment: 'processed' }).send();
  return BigInt(value.amount);
}

test('200 transfers, 50 at a time, while one message in ten is lost until it expires and some come late: each is executed once, and all end', async () => {
  const { alice, attempts, balance, database, local, transaction } = served.fixture;
  const peer = new WithholdingPeer(served.fixture);
  await served.serve({ sign: (claims) => peer.sign(claims) });
  await served.startFollower();
  await local.call('lose', { percent: lostPercent });
  await local.call('delay', late);

  const deadline = Date.now() + longestMs;
  const ids: string[] = [];
  const transferOne = async (place: number): Promise<void> => {
    const { coin, withheld, toAddress } = planOf(place);
    const txId = newId();
    ids[place] = txId;
    if (withheld) peer.withhold(txId, withheld);
    await served.submit({ txId, tokenSymbol: coin, amount: each[coin], toAddress: toAddress as string });
    while ((await transaction(txId)).ended_at === null) {
      if (Date.now() > deadline) throw new Error(`${txId} has not ended: ${await served.status(txId)}`);
      await delay(pollMs);
    }
  };
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < transfers) await transferOne(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, work));

  const all = await Promise.all(ids.map(async (txId) => ({ row: await transaction(txId), tries: await attempts(txId) })));
  expect(new Set(all.map(({ row }) => row.status))).toEqual(new Set(['CONFIRMED']));
  // none of what was given up can be executed any more, and no two are one message
  const tries = all.flatMap((it) => it.tries);
  expect(new Set(tries.map(({ message_key: key }) => key)).size).toBe(tries.length);
  for (const { tries: own } of all) {
    expect(own.at(-1)?.block_number).not.toBeNull();
    for (const earlier of own.slice(0, -1)) expect(earlier).toMatchObject({ impossible_proof: { end_slot: expect.any(Number) } });
  }
  expect(tries.length - transfers).toBeGreaterThan(5);
  // what the peer has sent is settled under its own id, and never made anew
  expect(peer.sent.size).toBe(transfers / 10);
  for (const [txId, id] of peer.sent) {
    expect(await transaction(txId)).toMatchObject({ tx_hash: id });
    expect(await attempts(txId)).toHaveLength(1);
  }
  for (const [at, owner] of recipients.entries())
    for (const coin of ['SOL', 'USDC'] as const) {
      const count = ids.filter((_, place) => planOf(place).coin === coin && place % recipients.length === at).length;
      if (count > 0) expect(await received(owner, coin)).toBe(BigInt(count) * parseUnits(each[coin], decimals[coin]));
    }
  for (const coin of ['SOL', 'USDC'] as const)
    expect(await balance(alice, coin)).toEqual({ available: await received(alice.address, coin), locked: 0n });
  expect(await verifyLedger(database.manager)).toEqual([]);
});
