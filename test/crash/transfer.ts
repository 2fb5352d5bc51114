import { createPublicClient, http } from 'viem';
import { parseAmount } from '../../src/platform/money';
import { gatewayQuery } from '../adversary/processes';
import { ledgerDifferences } from '../e2e/ledger';
import { balances, fundedAccount, transactionWhen, type Account } from '../e2e/support';
import { randomAddress } from '../factories';
import { fixtureOf, nodeOf } from '../families';
import { stack } from '../stack/client';
import { submit, type Submission } from './submit';

const amount = '0.01';

export const crashAccount = (): Promise<Account> => fundedAccount('ethereum', { ETH: '5' });

/** Submits the transfer, until it is accepted. */
export type Send = () => Promise<Submission>;

export const chainAt = (chain: string) => createPublicClient({ transport: http(stack().chains[chain]?.rpc) });
/** Atomic units of the native coin. */
export const onChain = (chain: string, address: string): Promise<bigint> => nodeOf(chain).balanceOf(address);

export const confirmedTimeline = ['PENDING', 'SIGNING', 'SUBMITTED', 'CONFIRMED'];

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
  expect(await onChain('ethereum', to)).toBe(parseAmount(amount, 18));
  expect(statusesOf(transfer)).toEqual(confirmedTimeline);
  await expectBalanced(account, 'ethereum');
  expect(await ledgerDifferences()).toEqual([]);
  return submitted;
}

export const statusesOf = ({ timeline }: { timeline: { status: string }[] }): string[] => timeline.map(({ status }) => status);

/** Nothing of an account is locked, and it has what the chain says. */
export async function expectBalanced({ account_id: id, address }: Account, chain: string): Promise<void> {
  const { symbol, decimals } = fixtureOf(chain);
  const { balance = '', locked_balance: locked } = (await balances(id, chain))[symbol] ?? {};
  expect(locked).toBe('0');
  expect(parseAmount(balance, decimals)).toBe(await onChain(chain, address));
}

export interface Attempt {
  kind: string;
  begunAt: Date;
  /** As the chain says. */
  mined: boolean;
}

/** The attempts of a transfer, in their order. */
export async function attemptsOf(txId: string, chain: string): Promise<Attempt[]> {
  const rows = await gatewayQuery<{ kind: string; tx_hash: string | null; begun: Date }>(
    'select kind, tx_hash, signing_begun_at as begun from transfer_attempts where tx_id = $1 order by attempt',
    [txId],
  );
  const { isIncluded } = nodeOf(chain);
  return Promise.all(
    rows.map(async ({ kind, tx_hash: id, begun }) => ({ kind, begunAt: begun, mined: id !== null && (await isIncluded(id)) })),
  );
}
