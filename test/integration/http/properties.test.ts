import type { Document } from '../../openapi';
import { checkOperations, endRun, type Target } from '../../properties/run';
import { randomAddress } from '../../factories';
import { buildFunded, createBench, type Bench } from './bench';

/** Every operation with requests made from its own description, valid and broken; the same on the whole stack: e2e. */

const runsPerOperation = 100;

let bench: Bench;
let target: Target;
let address = 0;
beforeAll(async () => {
  bench = await createBench();
  const { demo } = bench;
  const { wallet, account } = await buildFunded(bench, demo);
  const assets = await bench.call('GET', '/assets');
  const transactions = await bench.call('GET', '/transactions');
  const ids = [wallet.walletId, account.accountId, ...assets.body.data.map((asset) => asset['asset_id'])];
  target = {
    baseUrl: bench.base,
    token: () => Promise.resolve(demo.token),
    document: (await bench.call('GET', '/openapi.json', { tenant: null })).body as unknown as Document,
    known: {
      id: ids,
      wallet_id: [wallet.walletId],
      account_id: [account.accountId],
      tx_id: transactions.body.data.map((transaction) => transaction['tx_id']),
      chain: ['ethereum', 'base'],
      from_address: [account.address],
      to_address: [randomAddress(), randomAddress().toLowerCase()],
      token_symbol: ['ETH', 'USDC'],
      symbol: ['ETH', 'USDC', 'USDT'],
      amount: ['1', '0.5', '0', '1000000'],
      page: [1, 2],
      page_size: [1, 100],
    },
    // else all would be one address, which ten failed logins block
    headers: () => ({ 'X-Forwarded-For': `198.51.100.${(address += 1) % 256}` }),
    // neither signing nodes nor Temporal are asked here
    expected: ['get /health/ready 503'],
  };
});
afterAll(async () => {
  endRun();
  await bench.close();
});

test('whatever is sent, the answer is one that the document knows', async () => {
  const failures = await checkOperations(target, runsPerOperation);
  expect(failures.join('\n\n')).toBe('');
}, 180_000);
