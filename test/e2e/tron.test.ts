import { Trx, TronWeb } from 'tronweb';
import { chainFaults } from '../../dev/faults';
import { SimulatorClient } from '../../dev/tron/stack';
import { isInStack } from '../families';
import { tronFixture } from '../families/tron';
import { dataFolder, stack, waitFor } from '../stack/client';
import { balances, call, ends, fundedAccount, transactionWhen, transferAndWait } from './support';

const { chain, newAddress } = tronFixture;
const sun = (amount: string) => Math.round(Number(amount) * 1e6);

/** What no other family has; skipped where the stack is without the chain. */
(isInStack(tronFixture) ? describe : describe.skip)('Tron on the whole stack', () => {
  const rpc = () => stack().chains[chain]?.rpc ?? '';
  const usdt = () => stack().chains[chain]?.tokens.USDT ?? '';
  const tronWeb = () => new TronWeb({ fullHost: rpc() });
  const pay = (from: string, changes: object = {}) => ({
    ...{ from_address: from, to_address: newAddress(), chain },
    ...{ token_symbol: 'USDT', amount: '12.5', ...changes },
  });

  test('USDT with a memo on the chain: CONFIRMED, and the fee of the receipt is settled in TRX', async () => {
    const account = await fundedAccount(chain, { TRX: '100', USDT: '50' });
    const request = pay(account.address, { memo: 'Rechnung 42 ✓', on_chain_memo: true });
    const sent = await transferAndWait(request, 120_000);
    expect(sent).toMatchObject({ status: 'CONFIRMED', memo: 'Rechnung 42 ✓', fee: { symbol: 'TRX' } });
    const transaction = await tronWeb().trx.getTransaction(sent.tx_hash as string);
    expect(Buffer.from(String(transaction.raw_data.data), 'hex').toString()).toBe('Rechnung 42 ✓');
    // two nodes have signed it
    expect(TronWeb.address.fromHex(Trx.ecRecover({ ...transaction, visible: false }) as string)).toBe(account.address);
    const { fee } = await tronWeb().trx.getTransactionInfo(sent.tx_hash as string);
    // one TRX for the memo
    expect(fee).toBeGreaterThan(1_000_000);
    expect(sun(sent.fee.amount as string)).toBe(fee);
    expect(await balances(account.account_id, chain)).toMatchObject({
      USDT: { balance: '37.5', locked_balance: '0' },
      TRX: { locked_balance: '0' },
    });
    expect(sun((await balances(account.account_id, chain)).TRX?.balance ?? '')).toBe(
      await tronWeb().trx.getBalance(account.address),
    );
  });

  test('100 transfers of one account, 20 in flight: all CONFIRMED, each in a transaction of its own, and paid once', async () => {
    const [transfers, inFlight] = [100, 20];
    const account = await fundedAccount(chain, { TRX: '1000' });
    const to = newAddress();
    const sent: { status: string; tx_hash: string; fee: { amount: string } }[] = [];
    let left = transfers;
    const work = async () => {
      for (; left > 0;) {
        left -= 1;
        sent.push(await transferAndWait(pay(account.address, { to_address: to, token_symbol: 'TRX', amount: '1' }), 300_000));
      }
    };
    await Promise.all(Array.from({ length: inFlight }, work));
    expect(sent.map(({ status }) => status)).toEqual(Array(transfers).fill('CONFIRMED'));
    expect(new Set(sent.map(({ tx_hash: hash }) => hash)).size).toBe(transfers);
    expect(await tronWeb().trx.getBalance(to)).toBe(transfers * 1_000_000);
    const fees = sent.reduce((total, { fee }) => total + sun(fee.amount), 0);
    const { TRX: coins } = await balances(account.account_id, chain);
    expect(coins?.locked_balance).toBe('0');
    expect(sun(coins?.balance ?? '')).toBe(900_000_000 - fees);
    expect(await tronWeb().trx.getBalance(account.address)).toBe(900_000_000 - fees);
  });

  test('a memo on the chain has to be there, and not too long', async () => {
    const account = await fundedAccount(chain, { TRX: '50' });
    const send = (changes: object) =>
      call('POST', '/transfer', { body: pay(account.address, { token_symbol: 'TRX', ...changes }) });
    for (const memo of [undefined, null, '', 'x'.repeat(101)])
      expect(await send({ memo, on_chain_memo: true })).toMatchObject({
        status: 400,
        body: { code: 'invalid_parameter', detail: expect.stringMatching(/^memo\b/) },
      });
    expect(await balances(account.account_id, chain)).toMatchObject({ TRX: { balance: '50', locked_balance: '0' } });
  });

  test('out of energy, since the token has become dearer: FAILED with the fee that was burnt, the tokens are unlocked', async () => {
    const account = await fundedAccount(chain, { TRX: '100', USDT: '50' });
    const simulator = new SimulatorClient(rpc());
    const faults = chainFaults(dataFolder(), chain);
    await faults.delay();
    try {
      const { body } = await call('POST', '/transfer', { body: pay(account.address) });
      await transactionWhen(body.tx_id as string, ['SUBMITTED'], 120_000);
      // the highest penalty of the dynamic energy model
      await simulator.call('contract', { address: usdt(), energyFactor: 34_000 });
      await faults.resume();
      const ended = await transactionWhen(body.tx_id as string, ends, 120_000);
      expect(ended).toMatchObject({ status: 'FAILED', failure: { code: 'reverted_on_chain' }, fee: { symbol: 'TRX' } });
      const { fee, receipt } = await tronWeb().trx.getTransactionInfo(ended.tx_hash as string);
      expect(receipt.result).toBe('OUT_OF_ENERGY');
      expect(sun(ended.fee.amount as string)).toBe(fee);
      expect(fee).toBeGreaterThan(0);
    } finally {
      await simulator.call('contract', { address: usdt(), energyFactor: 0 });
      await faults.resume();
    }
    await waitFor(async () => (await balances(account.account_id, chain)).USDT?.locked_balance === '0');
    const { USDT: tokens, TRX: coins } = await balances(account.account_id, chain);
    expect(tokens).toEqual({ balance: '50', locked_balance: '0' });
    expect(sun(coins?.balance ?? '')).toBe(await tronWeb().trx.getBalance(account.address));
  });
});
