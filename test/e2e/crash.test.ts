import { crashAt } from '../crash/cases';
import { crashAccount } from '../crash/transfer';
import type { Account } from './support';

/** Three of the cases of `npm run test:crash`. */
let account: Account;
beforeAll(async () => {
  account = await crashAccount();
}, 180_000);

test('api killed while the lock is written', () => crashAt('lock', 'api', account), 240_000);
test('a signing node killed while the signature is stored', () => crashAt('persistSignature', 'mpc', account), 240_000);
test('worker killed between broadcast and its record', () => crashAt('recordBroadcast', 'worker', account), 240_000);
