import type { Address } from 'viem';
import { houseDestination } from '../../dev/node-limits';
import { gatewayQuery } from '../adversary/processes';
import { chainAt } from '../crash/transfer';
import { randomAddress } from '../factories';
import { fund, waitFor } from '../stack/client';
import { gateway, json, nodeCerts } from './gateway';
import { ledgerDifferences } from './ledger';
import { findSettler } from './payers';

/** Coins of a drained settler, sent by an operator's command on the running stack, where the signing nodes know one destination. */

const chain = 'ethereum';

interface Settler {
  settler_id: string;
  address: Address;
  status: string;
}

let settler: Settler;

const settlers = async (...args: string[]) => {
  const { code, out, err } = await gateway(['settlers', ...args, '--json'], { CHAINS: chain, ...nodeCerts() });
  return { code, err, row: code === 0 ? (JSON.parse(out) as Record<string, string>) : {} };
};
const balanceOf = (address: string) => chainAt(chain).getBalance({ address: address as Address });

beforeAll(async () => {
  // the key of the house is generated once the stack runs
  await findSettler();
  const { row, err } = await settlers('create', chain);
  expect(err).toBe('');
  settler = row as unknown as Settler;
  await fund(chain, 'ETH', settler.address, '2');
  await waitFor(
    async () => {
      const sql = `select from settlers s join ledger_accounts l using (account_id, chain) where s.settler_id = $1 and l.available > 0`;
      return (await gatewayQuery(sql, [settler.settler_id])).length > 0;
    },
    { timeoutMs: 60_000 },
  );
});
afterAll(async () => {
  expect(await ledgerDifferences()).toEqual([]);
});

/** Asks until nothing refuses it, and waits for its end. */
async function withdrawn(to: string, ...options: string[]) {
  const { row } = await waitFor(
    async () => {
      const answer = await settlers('withdraw', settler.settler_id, '--to', to, '--yes', ...options);
      return answer.code === 0 && answer;
    },
    { timeoutMs: 120_000, intervalMs: 1_000 },
  );
  return waitFor(
    async () => {
      const shown = await json('transfers', 'show', String(row.tx_id));
      return ['CONFIRMED', 'FAILED'].includes(shown.status as string) && shown;
    },
    { timeoutMs: 180_000, intervalMs: 500 },
  );
}

test('a settler that is in use keeps its coins', async () => {
  const refused = await settlers('withdraw', settler.settler_id, '--to', houseDestination, '--yes');
  expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/not drained/) });
  expect((await settlers('drain', settler.settler_id)).row.status).toBe('DRAINING');
});

test('nothing goes where the nodes know of no destination', async () => {
  const to = randomAddress();
  expect(await withdrawn(to, '--amount', '0.5')).toMatchObject({ status: 'FAILED', failure_code: 'node_policy' });
  expect(await balanceOf(to)).toBe(0n);
  expect(await balanceOf(settler.address)).toBeGreaterThan(10n ** 18n);
});

test('all of it goes to one that they know, and the settler is used again', async () => {
  const before = await balanceOf(houseDestination);
  expect(await withdrawn(houseDestination)).toMatchObject({ status: 'CONFIRMED', symbol: 'ETH' });
  expect((await balanceOf(houseDestination)) - before).toBeGreaterThan(19n * 10n ** 17n);
  expect(await balanceOf(settler.address)).toBeLessThan(10n ** 17n);
  expect((await settlers('resume', settler.settler_id)).row.status).toBe('ACTIVE');
});
