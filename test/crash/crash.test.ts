import type { Account } from '../e2e/support';
import { crashAccount, crashAt, victims } from './cases';
import { steps, type Step } from './holds';

let account: Account;
beforeAll(async () => {
  account = await crashAccount();
}, 180_000);

describe.each(Object.keys(steps) as Step[])('killed before %s is written', (step) => {
  test.each(victims)('%s', (victim) => crashAt(step, victim, account), 240_000);
});
