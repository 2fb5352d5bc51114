import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { balances, ends, fundedAccount, transactionWhen } from '../e2e/support';
import { randomAddress } from '../factories';
import { submit } from './submit';

/** BURST_TRANSFERS=1000 for the whole measure; fewer by default, since the rest of them only takes longer. */
const burst = { count: Number(process.env.BURST_TRANSFERS ?? 150), inFlight: 50 };

/** Of the values in order the one below which this part of them lies. */
const percentile = (values: number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? Infinity;

test(`${burst.count} transfers at ${burst.inFlight} at a time: all accepted, all confirmed, the ledger verifies`, async () => {
  const account = await fundedAccount('ethereum', { ETH: '500' });
  const answers: string[] = [];
  const tookMs: number[] = [];
  const txIds: string[] = [];
  let left = burst.count;
  const sendInTurn = async () => {
    while (left > 0) {
      left -= 1;
      const begun = performance.now();
      const submitted = await submit(account, randomAddress(), '0.0001');
      tookMs.push(performance.now() - begun);
      answers.push(...submitted.answers);
      txIds.push(...submitted.txIds);
    }
  };
  await Promise.all(Array.from({ length: burst.inFlight }, sendInTurn));
  // on a slow machine some get no connection to the database in time, and are sent again
  expect(answers.filter((answer) => answer !== '202' && answer !== '503 unavailable')).toEqual([]);
  expect(new Set(txIds).size).toBe(burst.count);
  // of fewer than some hundred the percentile would be a single answer
  if (burst.count >= 1000) expect(percentile(tookMs, 0.99)).toBeLessThanOrEqual(1000);

  const statuses = new Set<string>();
  for (const id of txIds) statuses.add((await transactionWhen(id, ends, 900_000)).status as string);
  expect(statuses).toEqual(new Set(['CONFIRMED']));
  expect((await balances(account.account_id, 'ethereum')).ETH?.locked_balance).toBe('0');
  expect(await ledgerDifferences()).toEqual([]);
  expect(await recordDifferences()).toEqual([]);
}, 1_200_000);
