import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { Address, PrivateKeyAccount } from 'viem';
import { devChain } from '../../dev/chain';
import type { JsonObject } from '../../src/chains/types';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { newPayer, paidOn, untilSettling, usdcOf } from '../e2e/payers';
import { randomAddress } from '../factories';
import { approvalInfo, extended } from '../sponsoring';
import { stack, waitFor } from '../stack/client';
import { signed } from '../x402';
import type { HeldGap } from './gaps';
import { Holds } from './holds';
import { settle, type Settled } from './settling';
import { allRun, kill, type Victim } from './victims';

/**
 * Payers who get coins for an approval, which comes before their payment, while one part is killed: coins and payment are sent once each.
 */

/**
 * Of the coins, which their settler sends, a kill each; each is reached while those above it are held. Whoever settles has locked the
 * house's ledger accounts, without which no other coins are accepted; and whoever is about to commit what it accepts has passed
 * `accept: insert` in the same transaction, so this one cannot be held any more.
 */
const rounds = {
  'before coins are settled': [
    'broadcast: markBroadcast',
    'broadcast: recordSigned',
    'start: remove the message',
    'accept: insert',
  ],
  'while coins are accepted': ['accept: COMMIT'],
  'while coins are settled': ['settle: settleTransfer'],
} as const satisfies Record<string, readonly HeldGap[]>;

interface Payment {
  what: string;
  payer: PrivateKeyAccount;
  payTo: Address;
  answer: Promise<Settled>;
}

let holds: Holds;
let settler: Address;
/** Of the test: holds what the breakpoints of other tests do not, and reads. */
let database: Client;

beforeAll(async () => {
  settler = await untilSettling();
  holds = await Holds.install(stack().postgres.url);
  database = new Client({ connectionString: stack().postgres.url });
  await database.connect();
  await database.query(`
    create function holds.approval() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(hashtext('approval'), hashtext(lower(new.payer)));
      return new;
    end $$;
    grant execute on function holds.approval() to public;
    create trigger a_holds_approval before update on x402_approvals for each row execute function holds.approval();`);
});
afterAll(async () => {
  await database.end();
  await holds.remove();
  expect(await recordDifferences()).toEqual([]);
});

async function send(what: string, payer: PrivateKeyAccount): Promise<Payment> {
  const payTo = randomAddress() as Address;
  const body: JsonObject = await signed({ kind: 'permit2', payer, payTo });
  const info = await approvalInfo({ payer, token: paidOn().usdc });
  const answer = settle(extended(body, 'erc20ApprovalGasSponsoring', info));
  // a round that fails does not await it
  answer.catch(() => undefined);
  return { what, payer, payTo, answer };
}

const approvalLock = (act: 'lock' | 'unlock', { address }: PrivateKeyAccount) =>
  database.query(`select pg_advisory_${act}(hashtext('approval'), hashtext($1))`, [address.toLowerCase()]);

/** One payment before its approval is sent, and one whose coins are in each of the gaps; then the victim is killed. */
async function crashWith(victim: Victim, gaps: readonly HeldGap[]): Promise<Payment[]> {
  await allRun();
  const [first, ...payers] = await Promise.all([...gaps, 'approval'].map(() => newPayer()));
  if (!first) throw new Error('no payer');
  const payments: Payment[] = [];
  try {
    await approvalLock('lock', first);
    payments.push(await send('approval: sent', first));
    await waitFor(
      async () => {
        const sql = `select from pg_locks where locktype = 'advisory' and not granted and classid = hashtext('approval')::bit(32)::bigint::oid`;
        return (await database.query(sql)).rowCount;
      },
      { timeoutMs: 180_000, intervalMs: 50 },
    );
    for (const [index, gap] of gaps.entries()) {
      await holds.hold(gap, settler);
      payments.push(await send(gap, payers[index] as PrivateKeyAccount));
      await holds.reached(gap, 60_000, settler);
    }
    kill(victim, 1);
    await delay(300);
  } finally {
    await approvalLock('unlock', first);
    await holds.releaseAll();
  }
  return payments;
}

const topUpsTo = async (payer: PrivateKeyAccount): Promise<string[]> => {
  const sql = `select status from transactions where transaction_type = 'GAS_TOPUP' and to_address = $1`;
  return (await database.query<{ status: string }>(sql, [payer.address])).rows.map(({ status }) => status);
};

const victims: Victim[] = ['worker', 'authoriser', 'all'];

test.each(victims.flatMap((victim) => Object.entries(rounds).map(([when, gaps]) => ({ victim, when, gaps }))))(
  '$victim killed $when: coins, approval and payment are sent once each',
  async ({ victim, gaps }) => {
    for (const { what, payer, payTo, answer } of await crashWith(victim, gaps)) {
      expect({ what, ...(await answer) }).toMatchObject({ what, success: true, transaction: expect.stringMatching(/^0x/) });
      expect({ what, received: await usdcOf(payTo) }).toEqual({ what, received: 1_000n });
      await waitFor(async () => (await topUpsTo(payer)).includes('CONFIRMED'), { timeoutMs: 180_000 });
      expect({ what, topUps: await topUpsTo(payer) }).toEqual({ what, topUps: ['CONFIRMED'] });
      expect(await devChain(paidOn().rpc).getTransactionCount({ address: payer.address })).toBe(1);
    }
    expect(await ledgerDifferences()).toEqual([]);
  },
);
