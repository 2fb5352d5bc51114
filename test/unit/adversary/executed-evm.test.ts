import { authorizationTypes, permit2WitnessTypes, uptoPermit2WitnessTypes } from '@x402/evm';
import {
  type Address,
  type Hex,
  hashTypedData,
  keccak256,
  pad,
  parseTransaction,
  serializeTransaction,
  type Transaction,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { exactProxyAddress, permit2Address, uptoProxyAddress } from '../../../src/chains/evm/payments/contracts';
import { getChains } from '../../../src/chains/registry/data';
import type { ChainDefinition } from '../../../src/chains/types';
import { executedOnEvm, movingTopics, type OwnAddresses } from '../../adversary/executed-evm';
import { authorizationPlan, buildSettlement, exactPlan, type SettlementPlan, tokenPermit, uptoPlan } from '../../evm-settlements';

/** What accounts of the gateway have signed of transactions on EVM chains. */

const [ethereum] = getChains('local') as [ChainDefinition];
const sender = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const { payer, payTo, token } = authorizationPlan;
const unsigned = {
  ...{ chainId: 1, nonce: 3, gas: 21_000n, to: sender.address, value: 5n, type: 'eip1559' as const },
  ...{ maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
};
const [transferred, used] = movingTopics as [Hex, Hex];
const moves = (topic: Hex, account: string) => ({ topics: [topic, pad(account as Hex)] });

/** As a node of the chain shows it. */
async function sent(): Promise<Transaction> {
  const signed = await sender.signTransaction(unsigned);
  const fields = parseTransaction(signed);
  return { ...fields, from: sender.address, hash: keccak256(signed), input: '0x', to: unsigned.to } as unknown as Transaction;
}

/** The transaction in which somebody else carries a payment out. */
function carrying(plan: SettlementPlan, changes: Partial<Transaction> = {}): Transaction {
  const { to, data } = parseTransaction(buildSettlement(plan));
  return { type: 'eip1559', chainId: 1, hash: '0xab', from: stranger, to, input: data, ...changes } as unknown as Transaction;
}

const ofClient: OwnAddresses = new Map([
  [sender.address.toLowerCase(), 'client'],
  [payer, 'client'],
]);
const executed = (transaction: Transaction, logs: { topics: Hex[] }[], own = ofClient) =>
  executedOnEvm(transaction, logs, ethereum, own);

test('a transaction of an account, with the digest that was signed', async () => {
  const transaction = await sent();
  const digest = keccak256(serializeTransaction(unsigned));
  const subject = `${transaction.hash} on ethereum`;
  expect(executed(transaction, [])).toEqual([{ subject, digest, owner: 'client' }]);
  // what it moves of its own needs no other signature
  expect(executed(transaction, [moves(transferred, sender.address)])).toEqual([{ subject, digest, owner: 'client' }]);
  expect(executed({ ...transaction, value: 6n }, [])).not.toEqual([{ subject, digest, owner: 'client' }]);
  expect(executed(transaction, [], new Map([[sender.address.toLowerCase(), 'house']]))).toMatchObject([{ owner: 'house' }]);
});

test('nothing of what others send and move', async () => {
  expect(executed(await sent(), [moves(transferred, stranger)], new Map([[payer, 'client']]))).toEqual([]);
});

const { validAfter, validBefore } = authorizationPlan;
const permit = (plan: SettlementPlan, spender: Address, witness: object) => ({
  ...{ permitted: { token: token as Address, amount: BigInt(plan.authorised) }, spender, nonce: BigInt(plan.nonce) },
  ...{ deadline: BigInt(validBefore), witness: { to: payTo, ...witness, validAfter: BigInt(validAfter) } },
});
const permit2 = { name: 'Permit2', chainId: 1, verifyingContract: permit2Address };
const primaryType = 'PermitWitnessTransferFrom';
/** By the official package's types. */
const digests = {
  authorization: hashTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: token as Address },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...{ from: payer as Address, to: payTo as Address, value: BigInt(authorizationPlan.authorised) },
      ...{ validAfter: BigInt(validAfter), validBefore: BigInt(validBefore), nonce: authorizationPlan.nonce as Hex },
    },
  }),
  exact: hashTypedData({
    ...{ domain: permit2, types: permit2WitnessTypes, primaryType },
    message: permit(exactPlan, exactProxyAddress, {}) as never,
  }),
  upto: hashTypedData({
    ...{ domain: permit2, types: uptoPermit2WitnessTypes, primaryType },
    message: permit(uptoPlan, uptoProxyAddress, { facilitator: uptoPlan.from }) as never,
  }),
};

test.each<[string, SettlementPlan, Hex, Hex]>([
  ['an authorisation, by the transfer', authorizationPlan, transferred, digests.authorization],
  ['an authorisation, by the event of its use', authorizationPlan, used, digests.authorization],
  ['a permit', exactPlan, transferred, digests.exact],
  ['a permit with an allowance', { ...exactPlan, permit: tokenPermit }, transferred, digests.exact],
  ['a part of a permit', uptoPlan, transferred, digests.upto],
])('the payment of an account that somebody else carries out: %s', (_, plan, topic, digest) => {
  const subject = `the payment of ${payer} in 0xab on ethereum`;
  expect(executed(carrying(plan), [moves(topic, payer)])).toEqual([{ subject, digest, owner: 'client' }]);
  expect(executed(carrying({ ...plan, validBefore: String(Number(validBefore) + 1) }), [moves(topic, payer)])).not.toMatchObject([
    { digest },
  ]);
});

test('what two accounts have signed: one sends the payment of the other', () => {
  const own: OwnAddresses = new Map([...ofClient, [stranger.toLowerCase(), 'house']]);
  const transaction = carrying(authorizationPlan, { nonce: 1, gas: 21_000n, value: 0n });
  expect(executed(transaction, [moves(transferred, payer), moves(used, payer)], own)).toMatchObject([
    { owner: 'house' },
    { owner: 'client', digest: digests.authorization },
  ]);
});

test.each<[string, Partial<Transaction>]>([
  ['that names no payment', { input: '0x12345678' }],
  ['of a payment that does not decode', { input: '0xe3ee160e00' }],
  ['that creates a contract', { to: null }],
  ['of the payment of somebody else', carrying({ ...authorizationPlan, payer: stranger.toLowerCase() })],
])('tokens moved by a call %s: nothing shows what was signed', (_, changes) => {
  expect(executed(carrying(authorizationPlan, changes), [moves(transferred, payer)])).toMatchObject([{ digest: null }]);
});
