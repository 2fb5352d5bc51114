import { recordDifferences } from '../adversary/records';
import type { Account } from '../e2e/support';
import { crashAt, points, victims } from './cases';
import { crashAccount } from './transfer';

let account: Account;
beforeAll(async () => {
  account = await crashAccount();
}, 180_000);
afterAll(async () => expect(await recordDifferences()).toEqual([]), 240_000);

describe.each(points)('killed before %s', (point) => {
  test.each(victims)('%s', (victim) => crashAt(point, victim, account), 240_000);
});
