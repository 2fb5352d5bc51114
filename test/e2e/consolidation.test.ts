import { describeWithBtcd } from '../stack/btcd';
import { fund, stack, waitFor } from '../stack/client';
import { gateway } from './gateway';
import { ledgerDifferences } from './ledger';
import { balances, call, newAccount, transactionWhen } from './support';

/** The output of `gateway utxo …`. */
async function utxo(...args: string[]): Promise<unknown> {
  const { code, out, err } = await gateway(['--json', 'utxo', ...args], { CHAINS: Object.keys(stack().chains).join(',') });
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

describeWithBtcd('small outputs of an account', () => {
  const satoshis = (amount: string) => BigInt(Math.round(Number(amount) * 1e8));

  test('become one when an operator asks for it: signed by the nodes, shown to the client, at the price of the fee alone', async () => {
    const { account_id: id, address } = await newAccount('bitcoin');
    for (let count = 0; count < 5; count += 1) await fund('bitcoin', 'BTC', address, '0.0001');
    await waitFor(async () => (await balances(id, 'bitcoin')).BTC?.balance === '0.0005', { timeoutMs: 120_000 });
    expect(await utxo('list', id)).toHaveLength(5);
    const looked = await utxo('consolidate', id, '--below', '0.001', '--dry-run');
    expect(looked).toMatchObject({ tx_id: null, inputs: 5, amount: '0.0005', symbol: 'BTC' });
    const { tx_id: txId } = (await utxo('consolidate', id, '--below', '0.001', '--yes')) as { tx_id: string };
    await expect(utxo('consolidate', id, '--below', '0', '--yes')).rejects.toThrow(/below/);
    const done = await transactionWhen(txId, ['CONFIRMED', 'FAILED', 'NEEDS_ATTENTION'], 120_000);
    expect(done).toMatchObject({
      ...{ status: 'CONFIRMED', transaction_type: 'CONSOLIDATION', amount: '0', failure: null },
      ...{ from_address: address, to_address: address, fee: { symbol: 'BTC' } },
    });
    const left = 50_000n - satoshis(done.fee.amount as string);
    expect(satoshis((await balances(id, 'bitcoin')).BTC?.balance ?? '')).toBe(left);
    expect(await utxo('list', id)).toMatchObject([{ amount: (Number(left) / 1e8).toFixed(8).replace(/0+$/, '') }]);
    const { body } = await call('GET', `/transactions?account_id=${id}&page_size=100`);
    const types = (body.data as { transaction_type: string }[]).map(({ transaction_type: type }) => type);
    expect(types.sort()).toEqual(['CONSOLIDATION', ...Array.from({ length: 5 }, () => 'INBOUND')]);
    expect(await ledgerDifferences()).toEqual([]);
  });
});
