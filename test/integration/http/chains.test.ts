import { formatAmount } from '../../../src/platform/money';
import { randomAddress } from '../../factories';
import { until } from '../transfers/served';
import { buildFunded, createFixture, ethereum, expectProblem, type Fixture, registry } from './fixture';

/** Of the fixture, a gwei each: twice the base fee and the tip, and room for replacements. */
const [perGas, replacements] = [3_000_000_000n, 2n];
const feeOf = (gas: bigint) => formatAmount(gas * perGas * replacements, 18);

interface ShownFees {
  native: { symbol: string; network_fee: string | null };
  tokens: ShownFees['native'][];
}

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
  await buildFunded(fixture, fixture.other);
});
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
    native: {
      ...{ symbol: 'ETH', name: ethereum.native.name, decimals: 18, asset_type: 'NATIVE', contract_address: null },
      network_fee: feeOf(21_000n),
    },
    tokens: expect.arrayContaining([
      {
        ...{ symbol: 'USDC', name: usdc?.name, decimals: 6, asset_type: 'ERC20', contract_address: usdc?.contract },
        network_fee: feeOf(100_000n),
      },
    ]),
    required_confirmations: ethereum.confirmations,
    block_time_ms: ethereum.blockTimeMs,
    max_network_fee: { amount: expect.stringMatching(/^\d+(\.\d+)?$/), symbol: 'ETH' },
    minimum_amount: null,
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

test('fees are what an estimate says, of the chains whose followers have stored them lately', async () => {
  const { account } = await buildFunded(fixture, fixture.other);
  const feesOf = async () => {
    const { body } = await fixture.call('GET', '/chains', { tenant: fixture.other });
    return body.data.map(({ chain, native, tokens }) => ({ chain, native, tokens }) as unknown as ShownFees);
  };
  const [first, ...others] = await feesOf();
  for (const symbol of ['ETH', 'USDC']) {
    const body = {
      from_address: account.address,
      to_address: randomAddress(),
      chain: 'ethereum',
      token_symbol: symbol,
      amount: '1',
    };
    const estimate = await fixture.call('POST', '/transfer/estimate', { tenant: fixture.other, body });
    const shown = [first?.native, ...(first?.tokens ?? [])].find((token) => token?.symbol === symbol);
    expect({ amount: shown?.network_fee, symbol: 'ETH' }).toEqual(estimate.body['fee_bound']);
  }
  // nobody follows them here
  for (const { native, tokens } of others)
    expect([native, ...tokens].map(({ network_fee: fee }) => fee)).toEqual([null, ...tokens.map(() => null)]);

  await fixture.database.query(`update chain_cursors set fee_levels_at = now() - interval '11 minutes'`);
  // what was read before is kept for a moment
  await until('no fee is shown', async () => (await feesOf())[0]?.native.network_fee === null);
});

test('levels that another release has stored in another form keep no chain from the list, and are no fault of a request', async () => {
  const { account } = await buildFunded(fixture, fixture.other);
  const shownFee = async () => {
    const { status, body } = await fixture.call('GET', '/chains', { tenant: fixture.other });
    expect([status, body.data.length]).toEqual([200, registry.all.length]);
    return (body.data[0] as unknown as ShownFees).native.network_fee;
  };
  // the test before has left old levels; what was read before is kept for a moment
  await fixture.database.query(`update chain_cursors set fee_levels_at = now()`);
  await until('a fee is shown', async () => (await shownFee()) !== null);
  await fixture.database.query(`update chain_cursors set fee_levels = '{"perGas": 7}', fee_levels_at = now()`);
  await until('they are read', async () => (await shownFee()) === null);
  const request = {
    from_address: account.address,
    to_address: randomAddress(),
    chain: 'ethereum',
    token_symbol: 'ETH',
    amount: '1',
  };
  const answer = await fixture.call('POST', '/transfer', { tenant: fixture.other, body: request });
  expectProblem(answer, 503, 'chain_unavailable');
});
