import { type Address, parseEther } from 'viem';
import { gateway } from '../e2e/gateway';
import { type Account, balances, call, transactionWhen } from '../e2e/support';
import { waitFor } from '../stack/client';
import type { Gap } from './gap';
import { gapOf } from './gaps';
import { chainOf, type InGap, list, reachMs, type Scene } from './scene';

/** A contract that reverts whatever it gets. */
const refuses = '0x60006000fd';

type Meanwhile = NonNullable<Gap['meanwhile']>;

/** What happens to a transfer that is about to begin to sign, and that begins then. */
const happens: Record<Meanwhile, (transfer: InGap, begin: () => Promise<void>) => Promise<void>> = {
  // the rules have been read already, and a list changes once nobody reads it
  'recipient is blacklisted': async ({ name, account, to }, begin) => {
    const listed = list('BLACKLIST', account, gapOf(name).chain, to);
    await begin();
    await listed;
  },
  // its gas has been estimated already
  'recipient refuses': async ({ name, to }, begin) => {
    await chainOf(gapOf(name).chain).setCode({ address: to as Address, bytecode: refuses });
    await begin();
  },
  'sender has no coins': async ({ name, account }, begin) => {
    await chainOf(gapOf(name).chain).setBalance({ address: account.address as Address, value: 0n });
    await begin();
  },
};

export async function beginMeanwhile(scene: Scene, transfer: InGap): Promise<void> {
  const { meanwhile } = gapOf(transfer.name);
  if (meanwhile) await happens[meanwhile](transfer, () => scene.letBegin(transfer));
}

/** The sender of a parked transfer gets its coins back, and an operator has the transfer tried again. */
export async function retryParked({ name, account, submission }: InGap): Promise<void> {
  const { chain } = gapOf(name);
  const { txId } = await submission;
  await transactionWhen(txId, ['NEEDS_ATTENTION'], reachMs);
  await chainOf(chain).setBalance({ address: account.address as Address, value: await owned(account, chain) });
  const isParked = async () => (await call('GET', `/transactions/${txId}`)).body.status === 'NEEDS_ATTENTION';
  // one whose answer is lost may have been carried out
  const isTried = async () => (await gateway(['transfers', 'retry', txId])).code === 0 || !(await isParked());
  await waitFor(isTried, { timeoutMs: 90_000, intervalMs: 1_000 });
}

/** Of the native coin, atomic units, as the gateway has it. */
async function owned({ account_id: id }: Account, chain: string): Promise<bigint> {
  const { balance = '0', locked_balance: locked = '0' } = (await balances(id, chain)).ETH ?? {};
  return parseEther(balance) + parseEther(locked);
}
