import { randomBytes } from 'node:crypto';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import { getAddress } from 'viem';
import { ledgerDifferences } from './ledger';
import { bought } from './official/buyer';
import { onEvm, type Seller, sellers } from './official/sellers';
import { untilSettling, usdcOf } from './payers';
import { type Account, balances, call, fundedAccount, transactionWhen } from './support';

/** Clients that pay from their own accounts: official sellers on the running stack, and the signatures of the nodes. */

const payTo = getAddress(`0x${randomBytes(20).toString('hex')}`);
let payer: Account;
let seller: Seller;

beforeAll(async () => {
  await untilSettling();
  payer = await fundedAccount('base', { USDC: '5' });
  seller = await sellers['@x402/express'](onEvm(payTo));
});
afterAll(async () => {
  await seller.close();
  expect(await ledgerDifferences()).toEqual([]);
});

interface Signed {
  txId: string;
  status: string;
  paymentPayload: object | null;
  header: { name: string; value: string } | null;
  validUntil: string | null;
  failure: { code: string } | null;
}

async function askPrice(path: string): Promise<PaymentRequired> {
  const response = await fetch(`${seller.url}${path}`);
  expect(response.status).toBe(402);
  return decodePaymentRequiredHeader(response.headers.get('PAYMENT-REQUIRED') ?? '');
}

const sign = (body: object, headers: Record<string, string> = {}) =>
  call('POST', '/x402/sign', { body, headers: { Prefer: 'wait=60', ...headers } });

/** What a client asks to have signed for one of the resource server's terms. */
const toRequest = ({ accepts, resource, extensions }: PaymentRequired) => ({
  ...{ x402Version: 2, payer: payer.address, paymentRequirements: accepts[0] },
  ...{ resource, ...(extensions && { extensions }) },
});

async function signFor(path: string): Promise<Signed> {
  const { status, body } = await sign(toRequest(await askPrice(path)));
  expect({ status, body }).toMatchObject({ status: 202, body: { status: 'SUBMITTED', failure: null } });
  return body as Signed;
}

test.each([
  ['/exact/evm/eip3009', '0.001', '0.001'],
  ['/exact/evm/eip3009/upfront', '0.001', '0.001'],
  ['/exact/evm/permit2-eip2612GasSponsoring', '0.001', '0.001'],
  ['/upto/evm/permit2-eip2612GasSponsoring', '0.002', '0.001'],
])('%s is bought: %s held, %s paid', async (path, held, paid) => {
  const [before, earned] = [await balances(payer.account_id, 'base'), await usdcOf(payTo)];
  const { txId, header } = await signFor(path);
  expect((await balances(payer.account_id, 'base'))['USDC']?.locked_balance).toBe(held);
  const answer = await bought(await fetch(`${seller.url}${path}`, { headers: { [header?.name ?? '']: header?.value ?? '' } }));
  expect(answer).toMatchObject({
    ...{ status: 200, body: { sold: path } },
    settled: { success: true, payer: payer.address },
  });
  const ended = await transactionWhen(txId, ['CONFIRMED', 'FAILED', 'NEEDS_ATTENTION']);
  expect(ended).toMatchObject({
    ...{ status: 'CONFIRMED', transaction_type: 'X402_SIGN', from_address: payer.address, to_address: payTo, amount: held },
    ...{ tx_hash: answer.settled?.transaction, fee: { amount: '0', symbol: 'ETH' } },
  });
  expect((await usdcOf(payTo)) - earned).toBe(BigInt(Number(paid) * 1e6));
  const after = await balances(payer.account_id, 'base');
  expect(after['USDC']?.locked_balance).toBe('0');
  expect(Number(before['USDC']?.balance) - Number(after['USDC']?.balance)).toBeCloseTo(Number(paid), 9);
});

test('asked for again under the same key it is the same payment', async () => {
  const body = toRequest(await askPrice('/exact/evm/eip3009'));
  const headers = { 'Idempotency-Key': randomBytes(8).toString('hex') };
  const [first, second] = [await sign(body, headers), await sign(body, headers)];
  expect(first.status).toBe(202);
  expect(second.body).toEqual(first.body);
  expect((await call('GET', `/x402/sign/${first.body.txId}`)).body).toEqual(first.body);
  const other = await sign({ ...body, resource: null }, headers);
  expect({ status: other.status, code: other.body.code }).toEqual({ status: 422, code: 'idempotency_key_reused' });
});

test('what nobody carries out is unlocked once it can be carried out no more', async () => {
  const { accepts } = await askPrice('/exact/evm/eip3009');
  const paymentRequirements = { ...accepts[0], amount: '70000', maxTimeoutSeconds: 10 };
  const { body } = await sign({ x402Version: 2, payer: payer.address, paymentRequirements });
  const failed = await transactionWhen(body.txId as string, ['FAILED', 'NEEDS_ATTENTION'], 180_000);
  expect(failed).toMatchObject({ status: 'FAILED', tx_hash: null, failure: { code: 'expired' } });
});

test('what a token or a seller does not take is refused, naming the field, and nothing is held', async () => {
  const { accepts } = await askPrice('/exact/evm/eip3009');
  const [terms] = accepts;
  const refused = async (changes: object) => {
    const { status, body } = await sign({ x402Version: 2, payer: payer.address, paymentRequirements: { ...terms, ...changes } });
    return { status, code: body.code as string, field: (body.errors as { field: string }[] | undefined)?.[0]?.field };
  };
  const invalid = (field: string) => ({ status: 400, code: 'invalid_parameter', field: `paymentRequirements.${field}` });
  expect(await refused({ maxTimeoutSeconds: 3_601 })).toEqual(invalid('maxTimeoutSeconds'));
  expect(await refused({ network: 'eip155:424242' })).toEqual(invalid('network'));
  expect(await refused({ asset: payTo })).toEqual(invalid('asset'));
  expect(await refused({ amount: '0' })).toEqual(invalid('amount'));
  expect(await refused({ scheme: 'upto' })).toEqual(invalid('extra.facilitatorAddress'));
  expect(await refused({ payTo: payer.address })).toEqual(invalid('payTo'));
  expect(await refused({ extra: { name: 'Other', version: '2' } })).toEqual(invalid('extra'));
  expect(await refused({ amount: '999000000' })).toMatchObject({ status: 400, code: 'insufficient_balance' });
});
