import { localBitcoin } from '../../bitcoin';
import { readLiveOptions } from '../../live/environment';
import { LivePayment } from '../../live/scenario';
import { describeWithBtcd, startTestBtcd, type TestBtcd } from '../../stack/btcd';

/** What `npm run test:live` does on a test network, here on a local chain. */

describeWithBtcd('the payment of the live test', () => {
  let btcd: TestBtcd;
  beforeAll(async () => {
    btcd = await startTestBtcd();
  }, 60_000);
  afterAll(() => btcd.stop());

  test('needs a coin, goes from one account to the other, and comes back when that is where the coins are', async () => {
    const { node, url } = btcd;
    const key = Uint8Array.from(Buffer.alloc(32, 5));
    const payment = new LivePayment({ chain: localBitcoin(), urls: [url], key, fromBlock: 1 });
    const [one, other] = payment.addresses as [string, string];
    await expect(payment.pay()).rejects.toThrow(`${one} or ${other}`);
    await node.fund(one, 10_000n);
    await node.mine(2);
    const paid = await payment.pay();
    expect(paid.attempt.intent).toMatchObject({ from: one, outputs: [{ recipient: other, amount: 1_000n }] });
    expect(await paid.send()).toEqual({ outcome: 'accepted' });
    expect(await paid.status()).toMatchObject({ state: 'pending' });
    expect(await payment.client.pool.deposits(paid.attempt.ids, payment.isOurs)).toMatchObject([{ toAddress: other }]);
    await node.mine(3);
    expect(await paid.status()).toMatchObject({ state: 'included', depth: 3 });
    const coins = await payment.findCoins();
    expect([...coins.values()].map((list) => list.length)).toEqual([1, 1]);
  });

  test('takes test networks alone, and says what is missing', () => {
    const good = { LIVE_BITCOIN_RPC_URLS: 'http://127.0.0.1:1', LIVE_BITCOIN_KEY: '05'.repeat(32), LIVE_BITCOIN_FROM_BLOCK: '1' };
    expect(readLiveOptions(good).chain).toMatchObject({ network: 'signet' });
    expect(readLiveOptions({ ...good, LIVE_BITCOIN_CHAIN: 'bitcoin-testnet4' }).chain).toMatchObject({ network: 'testnet4' });
    for (const name of Object.keys(good)) expect(() => readLiveOptions({ ...good, [name]: '' })).toThrow(new RegExp(`^${name} `));
    expect(() => readLiveOptions({ ...good, LIVE_BITCOIN_KEY: 'not a key' })).not.toThrow(/not a key/);
  });
});
