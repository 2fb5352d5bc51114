import { ConfigError } from '../../../src/platform/config';
import { readLiveTronOptions } from '../../live/tron-environment';
import { expectPaid, runLiveTron } from '../../live/tron-scenario';
import { tronDefinition } from '../../tron-client';
import { TestChain, trx, usdt } from '../../tron-simulator';

/** The steps of `npm run test:live`, on the simulator. */

let chain: TestChain;
beforeAll(async () => {
  chain = await TestChain.start({ isMining: true, blockMs: 20 });
});
afterAll(() => TestChain.stopAll());

test.each([
  ['TRX', null],
  ['a token', usdt],
])('%s', async (_, token) => {
  const holder = await chain.funded(trx(1_000), 1_000_000n);
  const options = { chain: tronDefinition(), urls: [`${chain.url}?rate=1000`], key: holder.key, token };
  expectPaid(await runLiveTron(options, 50), token);
});

test('the environment names Nile’s endpoints, a key, and perhaps a token', () => {
  const env = { LIVE_TRON_RPC_URLS: 'https://nile.trongrid.io', LIVE_TRON_KEY: '11'.repeat(32) };
  expect(readLiveTronOptions(env)).toMatchObject({ chain: { network: 'nile', tokens: [] }, token: null });
  expect(readLiveTronOptions({ ...env, LIVE_TRON_TOKEN: usdt })).toMatchObject({
    token: usdt,
    chain: { tokens: [{ contract: usdt }] },
  });
  for (const wrong of [{ LIVE_TRON_RPC_URLS: '' }, { LIVE_TRON_KEY: 'x' }, { LIVE_TRON_TOKEN: 'x' }])
    expect(() => readLiveTronOptions({ ...env, ...wrong })).toThrow(ConfigError);
});
