import { bitcoinFixture } from '../families/bitcoin';
import { isInStack } from '../families';
import { accountWith, balances, call, transferAndWait } from './support';

const to = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn';
const satoshis = (amount: string) => BigInt(Math.round(Number(amount) * 1e8));

/** What no other family has; skipped where the machine has no local node of the chain. */
(isInStack(bitcoinFixture) ? describe : describe.skip)('Bitcoin on the whole stack', () => {
  const transfer = (address: string, amount: string) => ({
    ...{ from_address: address, to_address: to, chain: 'bitcoin' },
    ...{ token_symbol: 'BTC', amount },
  });

  test('several inputs, signed in one go; what is too small to be relayed is refused', async () => {
    const account = await accountWith(bitcoinFixture, ['0.2', '0.3', '0.1']);
    const { status, body } = await call('POST', '/transfer', { body: transfer(account.address, '0.00000545') });
    expect([status, body.code]).toEqual([400, 'business_error']);
    const sent = await transferAndWait(transfer(account.address, '0.55'), 120_000);
    expect(sent.status).toBe('CONFIRMED');
    const { balance, locked_balance: locked } = (await balances(account.account_id, 'bitcoin')).BTC ?? {};
    expect([satoshis(balance ?? ''), locked]).toEqual([5_000_000n - satoshis(sent.fee.amount as string), '0']);
  });
});
