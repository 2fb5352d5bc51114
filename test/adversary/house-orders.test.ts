import path from 'node:path';
import { type Address, parseEther } from 'viem';
import { setUpSettlers } from '../../dev/settlers';
import type { StackChain } from '../../dev/stack-file';
import { lastSecond, readAuthorisation } from '../../src/chains/evm/authorise/bytes';
import { loadRegistry } from '../../src/chains/registry';
import type { Hex } from '../../src/chains/types';
import { nodeIndexes } from '../../src/messages/nodes';
import type { ClaimsOf, SigningClaims } from '../../src/messages/order';
import type { OrderSigner } from '../../src/orders/signer';
import { houseClientId } from '../../src/platform/house';
import { buildEvm, localPlan } from '../evm';
import { newPayer, paidChain, paidOn } from '../e2e/payers';
import { fundedAccount, call, transactionWhen } from '../e2e/support';
import { randomAddress } from '../factories';
import { approvalInfo, extended } from '../sponsoring';
import { settleOnce } from '../crash/settling';
import { dataFolder, stack, waitFor } from '../stack/client';
import { signed } from '../x402';
import { executedOnChains } from './executed';
import { nodeQuery, signingPairs } from './nodes';
import { authoriserSigner } from './processes';
import { alterPayment, alterSettlement, type Changes, newestOrder, orderOver, type OrderOf } from './real-orders';
import { Scene } from './scene';
import { alter } from './transfers';

/** SECURITY.md, list “Authoriser”, for what it orders beside transfers: settlements, coins of the house, and payments that others carry out. */

const scene = new Scene();
const stranger = randomAddress() as Address;
let signer: OrderSigner;
let settlement: OrderOf<ClaimsOf<'settlement'>>;
let gas: OrderOf<ClaimsOf<'gas'>>;
let payment: OrderOf<ClaimsOf<'typed_data'>>;

beforeAll(async () => {
  signer = await authoriserSigner();
  await createSettler();
  await sponsored();
  gas = await newestOrder('gas', signer);
  const { account, txId } = await authorised();
  payment = await newestOrder('typed_data', signer);
  expect(payment.claims).toMatchObject({ tx_id: txId, from: account });
  settlement = await newestOrder('settlement', signer);
  expect(settlement.claims.settlement.payer.toLowerCase()).toBe(account.toLowerCase());
});

/** The stack of these files starts without one. Resolves when a payment has been settled. */
async function createSettler(): Promise<void> {
  const { chains, ...running } = stack();
  await setUpSettlers({
    stack: { ...running, chains: { [paidChain]: chains[paidChain] as StackChain } },
    ...{ registry: loadRegistry('local', [paidChain]), secrets: path.join(dataFolder(), 'secrets') },
  });
  const body = await signed({ kind: 'eip3009', payer: await newPayer() });
  await waitFor(async () => (await settleOnce(body)).success, { timeoutMs: 120_000, intervalMs: 500 });
}

/** Settles a payment whose payer gets coins of the house for the allowance that it lacks. */
async function sponsored(): Promise<void> {
  const payer = await newPayer();
  const body = await signed({ kind: 'permit2', payer });
  const info = await approvalInfo({ payer, token: paidOn().usdc });
  await settled(extended(body, 'erc20ApprovalGasSponsoring', info));
}

/** A payment of an account that the house settles. */
async function authorised(): Promise<{ account: string; txId: string }> {
  const { address } = await fundedAccount(paidChain, { USDC: '1' });
  const paymentRequirements = {
    ...{ scheme: 'exact', network: 'eip155:8453', asset: paidOn().usdc, amount: '1000', payTo: randomAddress() },
    ...{ maxTimeoutSeconds: 900, extra: { name: 'USD Coin', version: '2' } },
  };
  const request = { body: { x402Version: 2, payer: address, paymentRequirements }, headers: { Prefer: 'wait=60' } };
  const { body } = await call('POST', '/x402/sign', request);
  expect(body).toMatchObject({ status: 'SUBMITTED' });
  await settled({ x402Version: 2, paymentPayload: body.paymentPayload as object, paymentRequirements });
  await transactionWhen(body.txId as string, ['CONFIRMED']);
  return { account: address, txId: body.txId as string };
}

async function settled(body: object): Promise<void> {
  const answer = await call('POST', '/x402/settle', { body, headers: { Prefer: 'wait=60' } });
  expect(answer.body).toMatchObject({ success: true });
  await transactionWhen(answer.body.txId as string, ['CONFIRMED']);
}

const entries = ({ claims: { tx_id: txId } }: { claims: SigningClaims }) =>
  Promise.all(nodeIndexes.map((node) => nodeQuery(node, 'select number, digests from journal where tx_id = $1', [txId])));

/** By every pair, for this reason; no journal has anything new about the transaction. */
async function isRefused(asked: OrderOf, reason: string): Promise<void> {
  const before = await entries(asked);
  for (const pair of signingPairs)
    await expect(scene.temporal.sign(asked, pair)).rejects.toMatchObject({
      code: 'intent_mismatch',
      message: expect.stringContaining(reason) as string,
    });
  expect(await entries(asked)).toEqual(before);
}
const ordered = (real: OrderOf, changes: Changes) => orderOver(real, signer, changes);

test('each of them is found on the chain, by the digest that was ordered', async () => {
  const digests: (string | null)[] = [];
  for await (const { digest } of executedOnChains()) digests.push(digest);
  for (const { claims } of [settlement, gas, payment]) expect(digests).toContain(claims.signers[0]?.digests[0]);
});

describe('a real order with altered bytes is refused:', () => {
  const later = (unsigned: Hex) => readAuthorisation(unsigned).validBefore + 60n;
  test.each<[string, () => OrderOf, (unsigned: Hex) => Hex, string]>([
    ['a settlement that pays another', () => settlement, (it) => alterSettlement(it, { payTo: stranger }), 'recipients'],
    ['a settlement of another payer', () => settlement, (it) => alterSettlement(it, { payer: stranger }), 'settlement.payer'],
    ['a settlement of more', () => settlement, (it) => alterSettlement(it, { authorised: 1_001n }), 'recipients'],
    [
      'a settlement with a longer deadline',
      () => settlement,
      (it) => alterSettlement(it, { validBefore: later(payment.unsigned) }),
      'settlement.window_end',
    ],
    ['a settlement with another nonce', () => settlement, (it) => alter(it, { nonce: 5_000 }), 'digests'],
    ['a settlement on another chain', () => settlement, (it) => alter(it, { chainId: 1 }), 'chain'],
    ['coins for another', () => gas, (it) => alter(it, { to: stranger }), 'recipients'],
    ['more coins', () => gas, (it) => alter(it, { value: parseEther('0.001') }), 'recipients'],
    ['coins with another nonce', () => gas, (it) => alter(it, { nonce: 5_000 }), 'digests'],
    ['coins on another chain', () => gas, (it) => alter(it, { chainId: 1 }), 'chain'],
    ['a payment to another', () => payment, (it) => alterPayment(it, { to: stranger }), 'recipients'],
    ['a payment of more', () => payment, (it) => alterPayment(it, { value: 1_001n }), 'recipients'],
    ['a payment with a longer deadline', () => payment, (it) => alterPayment(it, { validBefore: later(it) }), 'window_end'],
    ['a payment that can be made earlier', () => payment, (it) => alterPayment(it, { validAfter: 0n }), 'digests'],
    ['a payment with another nonce', () => payment, (it) => alterPayment(it, { nonce: 7n }), 'authorisation.identity'],
    ['a payment by another method', () => payment, (it) => toPermit(it), 'authorisation.method'],
    ['a payment in the domain of another chain', () => payment, (it) => alterPayment(it, { chainId: 1 }), 'chain'],
    [
      'a payment in another domain',
      () => payment,
      (it) => alterPayment(it, { domain: { name: 'Other Coin', version: '2' } }),
      'digests',
    ],
  ])('%s', async (_, real, change, reason) => {
    const { claims, order, unsigned } = real();
    await isRefused({ claims, order, unsigned: change(unsigned) }, reason);
  });
});

const toPermit = (unsigned: Hex): Hex => alterPayment(unsigned, { method: 'permit2_exact', domain: null });

describe('with the order key: the same bytes as another kind are refused:', () => {
  const ofHouse = 'only keys of the house';
  const notOfHouse = 'keys of the house do not sign this';
  test.each<[string, () => OrderOf, Partial<Record<SigningClaims['kind'], string>>]>([
    [
      'a settlement',
      () => settlement,
      {
        ...{ transfer: notOfHouse, typed_data: notOfHouse, consolidation: 'kind' },
        ...{ gas: 'kind', withdrawal: 'kind', cancellation: 'kind', replacement: 'kind', reissue: 'kind' },
      },
    ],
    [
      'coins of the house',
      () => gas,
      { transfer: notOfHouse, typed_data: notOfHouse, settlement: 'kind', cancellation: 'recipients', consolidation: 'kind' },
    ],
    [
      'a payment',
      () => payment,
      {
        ...{ transfer: 'kind', replacement: 'kind', cancellation: 'kind', consolidation: 'kind' },
        ...{ settlement: ofHouse, gas: ofHouse, withdrawal: ofHouse },
      },
    ],
  ])('%s', async (_, real, reasons) => {
    for (const [kind, reason] of Object.entries(reasons) as [SigningClaims['kind'], string][])
      await isRefused(await ordered(real(), { kind, ...(kind === 'reissue' && { earlier }) }), reason);
  });
  const earlier = [{ attempt: 1, digests: [`0x${'11'.repeat(32)}`], unsigned: '0x00' }];
});

describe('with the order key: keys sign nothing but what they are for:', () => {
  const belongs = 'belongs to another client';
  const notOfHouse = 'keys of the house do not sign this';

  test('a key of the house cannot move tokens of its own', async () => {
    const { from } = settlement.claims;
    const plan = { chainId: 8453, tokenContract: paidOn().usdc, maxFeePerGas: 10n ** 8n, maxPriorityFeePerGas: 1n };
    const unsigned = buildEvm(localPlan(5_000, from, stranger, plan));
    const nativeAlone = 'the house pays in the native coin alone';
    const reasons = {
      transfer: notOfHouse,
      gas: nativeAlone,
      withdrawal: nativeAlone,
      settlement: 'kind',
      replacement: nativeAlone,
    };
    for (const [kind, reason] of Object.entries(reasons) as [SigningClaims['kind'], string][])
      await isRefused(await ordered(settlement, { kind, unsigned }), reason);
    // nor by a payment that it would authorise, or settle for itself
    const own = alterPayment(payment.unsigned, { from: from as Address });
    await isRefused(await ordered(payment, { by: settlement, unsigned: own }), notOfHouse);
    const settles = alterSettlement(settlement.unsigned, { payer: from });
    await isRefused(await ordered(settlement, { unsigned: settles }), 'settlement.payer');
  });

  test('a key of the house signs no transfer and no payment in the name of a client', async () => {
    const { client_id } = payment.claims;
    const transfer = buildEvm(localPlan(5_000, settlement.claims.from, stranger, { chainId: 8453, maxFeePerGas: 10n ** 9n }));
    await isRefused(await ordered(settlement, { kind: 'transfer', unsigned: transfer, client_id }), belongs);
    await isRefused(await ordered(settlement, { kind: 'transfer', unsigned: transfer }), notOfHouse);
    await isRefused(await ordered(payment, { by: settlement, client_id }), belongs);
  });

  test('a key of a client settles nothing and gives no coins', async () => {
    for (const real of [settlement, gas]) {
      await isRefused(await ordered(real, { by: payment, client_id: houseClientId }), belongs);
      await isRefused(await ordered(real, { by: payment }), 'only keys of the house');
    }
  });
});

describe('with the order key: a payment is limited in time, place and number:', () => {
  test('a longer deadline than ordered, and one further away than two hours', async () => {
    const last = (seconds: bigint) =>
      alterPayment(payment.unsigned, { validBefore: readAuthorisation(payment.unsigned).validBefore + seconds });
    const { authorisation } = payment.claims;
    await isRefused(await ordered(payment, { unsigned: last(60n), authorisation }), 'the bytes expire at another time');
    await isRefused(await ordered(payment, { unsigned: last(7_200n) }), 'it is too far away');
    const { settlement: facts } = settlement.claims;
    const longer = { ...facts, window_end: facts.window_end + 60 };
    await isRefused(await ordered(settlement, { settlement: longer }), 'the bytes expire at another time');
  });

  test('what is over', async () => {
    const it = { ...readAuthorisation(payment.unsigned), validAfter: 0n, validBefore: 1_700_000_000n };
    const unsigned = alterPayment(payment.unsigned, it);
    expect(Number(lastSecond(it))).toBeLessThan(Date.now() / 1000);
    await isRefused(await ordered(payment, { unsigned }), 'it is over');
    const past = alterSettlement(settlement.unsigned, { validAfter: 0n, validBefore: it.validBefore });
    await isRefused(await ordered(settlement, { unsigned: past }), 'it is over');
  });

  test('the domain of another chain, and a chain that the nodes do not serve', async () => {
    const chainId = 424_242;
    const unsigned = alterPayment(payment.unsigned, { chainId });
    await isRefused(await ordered(payment, { unsigned }), 'the bytes are for another chain');
    await isRefused(await ordered(payment, { unsigned, chain: `eip155:${chainId}` }), 'does not serve');
    await isRefused(await ordered(settlement, { chain: 'eip155:1' }), 'the bytes are for another chain');
  });

  test('a token that the nodes do not know', async () => {
    const unsigned = alterPayment(payment.unsigned, { token: stranger });
    await isRefused(await ordered(payment, { unsigned }), 'not in the registry');
  });

  test('a second time', async () => {
    const { tx_id } = payment.claims;
    const unsigned = alterPayment(payment.unsigned, { nonce: 8n });
    await isRefused(await ordered(payment, { tx_id, unsigned, attempt: 2 }), 'a payment is authorised once');
  });
});

test('with the order key: coins of the house are limited to the highest fee of the chain', async () => {
  await isRefused(
    await ordered(gas, { unsigned: alter(gas.unsigned, { value: parseEther('10'), nonce: 5_000 }) }),
    'highest fee',
  );
});
