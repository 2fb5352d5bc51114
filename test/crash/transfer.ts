import { createPublicClient, http, type Address } from 'viem';
import { parseAmount } from '../../src/platform/money';
import { ledgerDifferences } from '../e2e/ledger';
import { balances, fundedAccount, transactionWhen, type Account } from '../e2e/support';
import { randomAddress } from '../factories';
import { stack } from '../stack/client';
import { submit, type Submission } from './submit';

const amount = '0.01';

export const crashAccount = (): Promise<Account> => fundedAccount('ethereum', { ETH: '5' });

/** Submits the transfer, until it is accepted. */
export type Send = () => Promise<Submission>;

/**
 * One transfer with a disturbance: it must be confirmed under the only id that its client got, the money must have moved
 * once, and the ledger must verify.
 */
export async function transferThrough(account: Account, disturb: (send: Send) => Promise<Submission>): Promise<Submission> {
  const to = randomAddress();
  const submitted = await disturb(() => {
    const submission = submit(account, to, amount);
    // a disturbance that fails does not await it
    submission.catch(() => undefined);
    return submission;
  });
  expect([...submitted.txIds]).toEqual([submitted.txId]);
  const transfer = await transactionWhen(submitted.txId, ['CONFIRMED'], 120_000);

  const chain = createPublicClient({ transport: http(stack().chains.ethereum?.rpc) });
  const inWei = (display = '') => parseAmount(display, 18);
  expect(await chain.getBalance({ address: to as Address })).toBe(inWei(amount));
  expect(transfer.timeline.map(({ status }: { status: string }) => status)).toEqual([
    'PENDING',
    'SIGNING',
    'SUBMITTED',
    'CONFIRMED',
  ]);
  const { ETH } = await balances(account.account_id, 'ethereum');
  expect(ETH?.locked_balance).toBe('0');
  expect(inWei(ETH?.balance)).toBe(await chain.getBalance({ address: account.address as Address }));
  expect(await ledgerDifferences()).toEqual([]);
  return submitted;
}
