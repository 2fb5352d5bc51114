import { createFixture, ethereum, expectProblem, type Fixture, registry } from './fixture';

let fixture: Fixture;
beforeAll(async () => void (fixture = await createFixture()));
afterAll(() => fixture.close());

test('every enabled chain with its coin, tokens, depth and fee cap, and nothing about endpoints', async () => {
  const { status, body, text } = await fixture.call('GET', '/chains');
  expect(status).toBe(200);
  expect(body.data.map((chain) => chain['chain'])).toEqual(registry.all.map(({ name }) => name));
  const usdc = ethereum.tokens.find(({ symbol }) => symbol === 'USDC');
  expect(body.data[0]).toEqual({
    chain: 'ethereum',
    network: ethereum.network,
    caip2: ethereum.caip2,
    native: { symbol: 'ETH', name: ethereum.native.name, decimals: 18, asset_type: 'NATIVE', contract_address: null },
    tokens: expect.arrayContaining([
      { symbol: 'USDC', name: usdc?.name, decimals: 6, asset_type: 'ERC20', contract_address: usdc?.contract },
    ]),
    required_confirmations: ethereum.confirmations,
    block_time_ms: ethereum.blockTimeMs,
    max_network_fee: { amount: expect.stringMatching(/^\d+(\.\d+)?$/), symbol: 'ETH' },
    minimum_balance: null,
    on_chain_memo: false,
    allow_program_address: false,
    explorer_tx_url: null,
  });
  const { amount } = body.data[0]?.['max_network_fee'] as unknown as { amount: string };
  expect(BigInt(Math.round(Number(amount) * 1e9)) * 10n ** 9n).toBe(ethereum.maxNetworkFee);
  expect(text).not.toMatch(/https?:\/\/(127\.0\.0\.1|localhost)|rpc/i);
});

test('asks for a token, and refuses what it does not know', async () => {
  expectProblem(await fixture.call('GET', '/chains', { tenant: null }), 401, 'unauthorized');
  expectProblem(await fixture.call('GET', '/chains?page=2'), 400, 'invalid_parameter', 'page');
});
