import type { Address } from 'viem';
import { account } from '../integration/dev/payers';
import { api, fund, send, stack, waitFor } from '../stack/client';
import { change } from '../unit/x402/bodies';
import { type Kind, signed } from '../x402';
import { approvePermit2, findSettler, paidChain } from './payers';

/** Payments of somebody else to somebody else, as a seller has them checked on the running stack. */

const network = 'eip155:8453';
const payer = account(`payer ${Date.now()}`);
let settler: Address;

beforeAll(async () => {
  settler = await findSettler();
  await fund(paidChain, 'USDC', payer.address, '1');
  await approvePermit2(payer);
});

const verify = (body: unknown, name: 'demo' | 'other' = 'demo') =>
  api(name).request<Record<string, unknown>>('POST', '/x402/verify', { body: body as object });

test('kinds are served to the client that may settle, and to no other', async () => {
  // what the API has read before is 3 seconds old at most
  const { body } = await waitFor(async () => {
    const answer = await api().request<{ kinds: object[] }>('GET', '/x402/supported');
    return answer.body.kinds.length >= 6 && answer;
  });
  expect(body).toMatchObject({
    kinds: expect.arrayContaining([
      { x402Version: 2, scheme: 'exact', network },
      { x402Version: 2, scheme: 'upto', network, extra: { facilitatorAddress: settler } },
      { x402Version: 1, scheme: 'exact', network: 'base' },
      { x402Version: 1, scheme: 'exact', network: 'ethereum' },
    ]),
    extensions: ['eip2612GasSponsoring', 'erc20ApprovalGasSponsoring'],
    signers: { 'eip155:*': expect.arrayContaining([settler]) },
  });
  expect((await api('other').request('GET', '/x402/supported')).body).toEqual({ kinds: [], extensions: [], signers: {} });
});

test.each<Kind>(['eip3009 V1', 'eip3009', 'permit2', 'upto'])(
  '%s: a good payment is valid, a changed one is not',
  async (kind) => {
    const body = await signed({ kind, payer, facilitator: settler });
    expect(await verify(body)).toMatchObject({
      status: 200,
      body: { isValid: true, invalidReason: null, payer: payer.address },
    });
    const place = /^eip3009/.test(kind) ? 'authorization.nonce' : 'permit.nonce';
    const changed = await verify(change(body, { [place]: `0x${'5'.repeat(64)}` }));
    expect(changed).toMatchObject({ status: 200, body: { isValid: false, invalidReason: expect.stringMatching(/_signature$/) } });
    expect((await verify(body, 'other')).body).toMatchObject({ isValid: false, invalidReason: 'invalid_network' });
  },
);

test('rubbish is answered with a reason, and nobody without a token', async () => {
  for (const body of [{}, [], { x402Version: 2 }, { x402Version: 1, paymentPayload: { payload: { signature: 1 } } }])
    expect(await verify(body)).toMatchObject({ status: 200, body: { isValid: false, invalidReason: expect.any(String) } });
  for (const [method, path] of [
    ['POST', '/x402/verify'],
    ['GET', '/x402/supported'],
  ] as const)
    expect((await send(method, `${stack().base_url}${path}`)).status).toBe(401);
});
