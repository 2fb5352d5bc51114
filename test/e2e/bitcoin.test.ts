import { parseRawTransaction } from '../../src/chains/bitcoin/block';
import { toScript } from '../../src/chains/bitcoin/codec/address';
import { createRpcCall } from '../../src/chains/bitcoin/rpc';
import { bitcoinCodec } from '../bitcoin';
import { describeWithBtcd } from '../stack/btcd';
import { createAccount, fund, sharedWallet, stack, waitFor } from '../stack/client';
import { ledgerDifferences } from './ledger';
import { type Account, balances, call, ends, transactionWhen, transferAndWait } from './support';

const destinations = {
  P2PKH: 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn',
  P2SH: '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc',
  P2WPKH: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
  P2WSH: 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
  P2TR: 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
};

describeWithBtcd('Bitcoin on the whole stack', () => {
  const rpc = () => createRpcCall(stack().chains.bitcoin?.rpc ?? '');
  const outputsOf = async (id: string) =>
    parseRawTransaction(Buffer.from(await rpc()<string>('getrawtransaction', [id, 0]), 'hex')).outputs;
  const satoshis = (amount: string) => BigInt(Math.round(Number(amount) * 1e8));
  const balanceOf = async ({ account_id: id }: Account) => (await balances(id, 'bitcoin')).BTC;

  const fundedAccount = async (amounts: string[]): Promise<Account> => {
    const account = await createAccount((await sharedWallet()).wallet_id, 'bitcoin');
    const added = await call('POST', '/assets', { body: { account_id: account.account_id, symbol: 'BTC' } });
    expect(added.status).toBe(201);
    for (const amount of amounts) await fund('bitcoin', 'BTC', account.address, amount);
    const sum = amounts.reduce((total, amount) => total + satoshis(amount), 0n);
    await waitFor(async () => satoshis((await balanceOf(account))?.balance ?? '0') === sum, { timeoutMs: 60_000 });
    return account;
  };
  const transfer = ({ address }: Account, to: string, amount: string) => ({
    ...{ from_address: address, to_address: to, chain: 'bitcoin' },
    ...{ token_symbol: 'BTC', amount },
  });

  test('a deposit is credited, and transfers to every kind of address are signed by the nodes and confirmed', async () => {
    const account = await fundedAccount(['0.5', '0.25', '0.25', '0.25', '0.25']);
    let left = satoshis('1.5');
    for (const [kind, to] of Object.entries(destinations)) {
      const sent = await transferAndWait(transfer(account, to, '0.1'), 120_000);
      expect([kind, sent.status, sent.failure]).toEqual([kind, 'CONFIRMED', null]);
      const script = Buffer.from(toScript(bitcoinCodec.parseAddress(to)?.key ?? ''));
      expect(await outputsOf(sent.tx_hash as string)).toContainEqual({ amount: 10_000_000n, script });
      expect(sent.fee).toMatchObject({ symbol: 'BTC' });
      left -= 10_000_000n + satoshis(sent.fee.amount as string);
    }
    // two inputs, signed in one go
    const both = await transferAndWait(transfer(account, destinations.P2WPKH, '0.6'), 120_000);
    expect(both.status).toBe('CONFIRMED');
    left -= 60_000_000n + satoshis(both.fee.amount as string);
    expect(await balanceOf(account)).toMatchObject({ locked_balance: '0' });
    expect(satoshis((await balanceOf(account))?.balance ?? '0')).toBe(left);
  });

  test('20 transfers at once from 8 outputs: all are confirmed, none spends what another one does', async () => {
    const account = await fundedAccount(Array.from({ length: 8 }, () => '0.1'));
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call('POST', '/transfer', { body: transfer(account, destinations.P2TR, '0.01') })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(202));
    const sent = await Promise.all(answers.map(({ body }) => transactionWhen(body.tx_id as string, ends, 240_000)));
    expect(sent.map(({ status }) => status)).toEqual(Array(20).fill('CONFIRMED'));
    expect(new Set(sent.map(({ tx_hash: id }) => id as string)).size).toBe(20);
    const fees = sent.reduce((total, { fee }) => total + satoshis(fee.amount as string), 0n);
    expect(satoshis((await balanceOf(account))?.balance ?? '0')).toBe(80_000_000n - 20_000_000n - fees);
    await waitFor(async () => (await ledgerDifferences()).length === 0, { timeoutMs: 30_000 });
  });

  test('what no address of the chain is, and what is too small to be sent, is refused at once', async () => {
    const account = await fundedAccount(['0.01']);
    const ask = async (to: string, amount: string) => {
      const { status, body } = await call('POST', '/transfer', { body: transfer(account, to, amount) });
      return [status, body.code as string];
    };
    expect(await ask('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', '0.001')).toEqual([400, 'invalid_address']);
    expect(await ask('0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0.001')).toEqual([400, 'invalid_address']);
    expect(await ask(account.address.toUpperCase(), '0.001')).toEqual([400, 'invalid_parameter']);
    expect(await ask(destinations.P2PKH, '0.00000545')).toEqual([400, 'business_error']);
    expect(await ask(destinations.P2PKH, '0.01')).toEqual([400, 'insufficient_balance']);
    expect(await balanceOf(account)).toEqual({ balance: '0.01', locked_balance: '0' });
  });
});
