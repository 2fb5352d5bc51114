import { type Address, erc20Abi, type Hex, type PrivateKeyAccount } from 'viem';
import { devChain } from '../../dev/chain';
import { permit2Address } from '../../src/chains/evm/payments/contracts';
import type { JsonObject } from '../../src/chains/types';
import { account } from '../integration/dev/payers';
import { randomAddress } from '../factories';
import { approvalInfo, extended, permitInfo } from '../sponsoring';
import { api, fund, stack, waitFor } from '../stack/client';
import { change } from '../unit/x402/bodies';
import { type Kind, signed } from '../x402';
import { ledgerDifferences } from './ledger';
import { transactionWhen } from './support';

/** Payers without an allowance for Permit2, and without coins, on the running stack. */

const chain = 'base';
let settler: Address;
let rpc: string;
let usdc: Hex;

beforeAll(async () => {
  // the key of the house is generated once the stack runs
  settler = (await waitFor(() => stack().settlers[chain], { timeoutMs: 420_000, intervalMs: 500 })) as Address;
  const { tokens } = stack().chains[chain] as { tokens: Record<string, string> };
  ({ rpc } = stack().chains[chain] as { rpc: string });
  usdc = tokens['USDC'] as Hex;
});

const settle = async (body: JsonObject) =>
  (await api('demo').request<JsonObject>('POST', '/x402/settle', { body, headers: { Prefer: 'wait=60' } })).body;
const read = (functionName: 'balanceOf' | 'allowance', ...args: string[]): Promise<bigint> =>
  devChain(rpc).readContract({ address: usdc, abi: erc20Abi, functionName, args: args as never });

/** Somebody who has nothing but 10 USDC. */
async function newPayer(name: string): Promise<PrivateKeyAccount> {
  const payer = account(`${name} ${Date.now()}`);
  await fund(chain, 'USDC', payer.address, '10');
  return payer;
}

/** A payment of 1,000 atomic units to an address of its own. */
async function payment(kind: Kind, payer: PrivateKeyAccount): Promise<{ body: JsonObject; payTo: Address }> {
  const payTo = randomAddress() as Address;
  return { payTo, body: await signed({ kind, payer, facilitator: settler, payTo }) };
}

/** Settles once the coins of the settler are credited. */
async function settlesOnce(body: JsonObject): Promise<JsonObject> {
  return waitFor(
    async () => {
      const answer = await settle(body);
      return answer.errorReason === 'unexpected_settle_error' ? undefined : answer;
    },
    { timeoutMs: 60_000, intervalMs: 500 },
  );
}

async function isPaid(answer: JsonObject, payTo: Address, amount: bigint): Promise<void> {
  expect(answer).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) as string });
  expect(await read('balanceOf', payTo)).toBe(amount);
  await transactionWhen(answer.txId as string, ['CONFIRMED']);
}

test.each<[Kind, bigint]>([
  ['permit2', 1_000n],
  ['upto', 400n],
])('%s with a permit of the token: one transaction', async (kind, amount) => {
  const payer = await newPayer(`permit ${kind}`);
  const { body, payTo } = await payment(kind, payer);
  const info = await permitInfo({ payer, token: usdc, amount: 1_000n });
  const asked = change(extended(body, 'eip2612GasSponsoring', info), { 'required.amount': amount.toString() });
  expect(await settle(change(asked, { 'paymentPayload.extensions': {} }))).toMatchObject({
    errorReason: 'permit2_allowance_required',
  });
  const answer = await settlesOnce(asked);
  await isPaid(answer, payTo, amount);
  expect(await settle(asked)).toEqual(answer);
  expect(await devChain(rpc).getTransactionCount({ address: payer.address })).toBe(0);
});

test.each<[Kind, bigint]>([
  ['permit2', 1_000n],
  ['upto', 400n],
])('%s with a signed approval: the payer gets the coins for it, it is sent, and the payment follows', async (kind, amount) => {
  const payer = await newPayer(`approval ${kind}`);
  const { body, payTo } = await payment(kind, payer);
  const info = await approvalInfo({ payer, token: usdc });
  const asked = change(extended(body, 'erc20ApprovalGasSponsoring', info), { 'required.amount': amount.toString() });
  const answer = await settlesOnce(asked);
  await isPaid(answer, payTo, amount);
  expect(await settle(asked)).toEqual(answer);
  expect(await devChain(rpc).getTransactionCount({ address: payer.address })).toBe(1);
  expect(await read('allowance', payer.address, permit2Address)).toBeGreaterThan(0n);
  // the allowance is there now: another one is paid without anything of the kind
  const next = await payment(kind, payer);
  await isPaid(await settle(next.body), next.payTo, 1_000n);
});

test('what is offered', async () => {
  const { body } = await api('demo').request<{ extensions: string[] }>('GET', '/x402/supported');
  expect(body.extensions).toEqual(['eip2612GasSponsoring', 'erc20ApprovalGasSponsoring']);
  expect((await api('other').request<{ extensions: string[] }>('GET', '/x402/supported')).body.extensions).toEqual([]);
});

afterAll(async () => {
  expect(await ledgerDifferences()).toEqual([]);
});
