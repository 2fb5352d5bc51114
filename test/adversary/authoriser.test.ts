import { parseEther, type Address } from 'viem';
import type { Hex } from '../../src/chains/types';
import type { OrderClaims } from '../../src/messages/order';
import type { OrderSigner } from '../../src/orders/signer';
import { digestOf } from '../evm';
import { randomAddress } from '../factories';
import { isInStack } from '../families';
import { orderHead } from '../orders';
import { stack } from '../stack/client';
import { alarms, nodeQuery, signingPairs } from './nodes';
import { authoriserSigner, gatewayQuery, loginOf, refusal } from './processes';
import { acceptMissing, closedForMissing } from './reconcile';
import { describeEach, ProtocolScene } from './protocols';
import { isConfirmed, withoutWorker } from './scene';
import { alter, assemble, type OrderedTransfer } from './transfers';

/** SECURITY.md, list “Authoriser”: somebody has the order key, and the authoriser's login. */

const scenes = ProtocolScene.all();
const scene = scenes[0] as ProtocolScene;
let signer: OrderSigner;
/** What is ordered in the name of one that is confirmed concerns no workflow. */
const confirmed = new Map<ProtocolScene, OrderedTransfer>();
let ordered: OrderedTransfer;
/** A transfer that the nodes have signed, and that the gateway's database does not know. */
const unknownId = crypto.randomUUID();
beforeAll(async () => {
  signer = await authoriserSigner();
  // before the tests: nodes keep what they have been ordered, and once a minute the gateway looks for it, and closes when it lacks something
  for (const of of scenes.filter((it) => isInStack(it.of.fixture))) confirmed.set(of, await confirmedOf(of));
  ordered = confirmed.get(scene) as OrderedTransfer;
});

/** A transfer that nodes 1 and 2 have signed, and that is confirmed. */
async function confirmedOf(of: ProtocolScene): Promise<OrderedTransfer> {
  const signed = await withoutWorker(async () => {
    const real = await of.order();
    await of.temporal.sign(real, { initiator: 1, peer: 2 });
    return real;
  });
  await isConfirmed(signed);
  return signed;
}

type Changes = Partial<OrderedTransfer['claims']>;

/** An order that the authoriser's own key has signed, over other bytes; claims and bytes agree unless `changes` say otherwise. */
async function orderOver(bytes: Parameters<typeof alter>[1], changes: Changes = {}) {
  const unsigned = alter(ordered.unsigned, bytes);
  const { claims } = ordered;
  const recipients = claims.recipients.map((paid) => ({
    ...paid,
    address: bytes.to ?? paid.address,
    amount: bytes.value?.toString() ?? paid.amount,
  }));
  const signers = claims.signers.map((one) => ({ ...one, digests: [digestOf(unsigned, claims.from)] }));
  // the number of a real one: a higher one would tell that the gateway's database has lost orders
  const head = orderHead({ dep: claims.dep, seq: claims.seq });
  const order = await signer.sign({ ...claims, ...head, recipients, signers, ...changes } as OrderClaims);
  return { order, unsigned };
}

const refusedByAll = async (made: { order: string; unsigned: `0x${string}` }, code: string, reason: string) => {
  for (const pair of signingPairs)
    await expect(scene.temporal.sign(made, pair)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(reason) as string,
    });
};

describeEach(scenes, (of) => {
  const otherClient = () => stack().clients.find(({ name }) => name === 'other')?.client_id ?? '';
  let real: OrderedTransfer;
  beforeAll(() => {
    real = confirmed.get(of) as OrderedTransfer;
  });

  /** An order over the same transaction with another recipient, or another amount; its claims agree with the bytes unless `changes` say otherwise. */
  async function orderOverOther(at: 0 | 1, changes: Changes = {}) {
    const { claims } = real;
    const unsigned = of.of.others(real.unsigned, 5_000)[at] as Hex;
    const recipients = of.family.describe(unsigned).outputs.map(({ recipient, tokenContract, amount }) => ({
      address: recipient,
      token: tokenContract,
      amount: amount.toString(),
    }));
    const digests = of.family.signingPayloads(unsigned, claims.from).map(({ digest }) => digest);
    const signers = claims.signers.map((one) => ({ ...one, digests }));
    // the number of a real one: a higher one would tell that the gateway's database has lost orders
    const head = orderHead({ dep: claims.dep, seq: claims.seq });
    return { order: await signer.sign({ ...claims, ...head, recipients, signers, ...changes } as OrderClaims), unsigned };
  }

  test.each([0, 1] as const)(
    'cannot have other bytes signed for an attempt than the first that it ordered: an alarm (%d)',
    async (at) => {
      await refusedByAll(await orderOverOther(at), 'intent_mismatch', 'digests');
      for (const node of [1, 2] as const)
        expect(alarms(node)).toContainEqual(expect.objectContaining({ alert: 'journal_contradicted', tx_id: real.txId }));
    },
  );

  test('cannot use a key for another client than it is bound to', async () => {
    const made = await orderOverOther(0, { tx_id: crypto.randomUUID(), client_id: otherClient() });
    await refusedByAll(made, 'intent_mismatch', 'client_id');
  });

  test('cannot have a key of a client settle what somebody else has authorised, nor pay what the house pays', async () => {
    const authorised = { method: 'eip3009', payer: randomAddress(), identity: 'token/payer/1', authorised: '1' };
    const settlement = { client_id: otherClient(), ...authorised, window_end: Math.floor(Date.now() / 1000) + 600 };
    const changes = [
      { kind: 'settlement', settlement },
      { kind: 'gas' },
      { kind: 'withdrawal' },
      { kind: 'replacement', attempt: 2, settlement },
    ];
    for (const change of changes) {
      const made = await orderOverOther(0, { tx_id: crypto.randomUUID(), ...change } as Changes);
      await refusedByAll(made, 'intent_mismatch', 'client_id');
    }
  });

  test('cannot have digests signed in the place of bytes', async () => {
    const made = await orderOverOther(0, { tx_id: crypto.randomUUID() });
    await refusedByAll({ ...made, unsigned: real.claims.signers[0]?.digests[0] ?? '0x' }, 'intent_mismatch', 'unsigned');
  });
});

test('cannot have a later attempt signed that could be executed beside the first', async () => {
  const made = await orderOver({ nonce: 5_000 }, { attempt: 2, kind: 'replacement' });
  await refusedByAll(made, 'intent_mismatch', 'resources');
  expect(await nodeQuery(1, 'select from journal where tx_id = $1 and attempt = 2', [ordered.txId])).toEqual([]);
});

test('cannot have bytes signed that are no transaction of a chain and token that the nodes know', async () => {
  const { claims } = ordered;
  const head = orderHead({ dep: claims.dep, seq: claims.seq });
  const { tx_id, attempt, client_id, request, signers, chain, from, recipients: paid, max_fee } = claims;
  const authorisation = { method: 'eip3009', identity: 'token/payer/1', facilitator: null, window_end: head.exp };
  const facts = { tx_id, attempt, client_id, request, signers, chain, from, recipients: paid, max_fee };
  // the bytes of a transfer are not those of a payment that somebody else sends
  const typed = await signer.sign({ ...head, kind: 'typed_data', ...facts, authorisation });
  await refusedByAll({ order: typed, unsigned: ordered.unsigned }, 'intent_mismatch', 'kind');
  const other = await orderOver({ nonce: 5_000, chainId: 424_242 }, { tx_id: crypto.randomUUID(), chain: 'eip155:424242' });
  await refusedByAll(other, 'intent_mismatch', 'does not serve');
  const [contract, to] = [randomAddress() as Address, randomAddress()];
  const recipients = [{ address: to, token: contract, amount: '5' }];
  const transfer = { to: contract, value: 0n, data: transferCall(to, 5n), nonce: 5_000 };
  const unknown = await orderOver(transfer, { tx_id: crypto.randomUUID(), recipients });
  await refusedByAll(unknown, 'intent_mismatch', 'not in the registry');
});

test('cannot order a fee above what the nodes allow on the chain', async () => {
  const made = await orderOver(
    { nonce: 5_000, maxFeePerGas: parseEther('1') },
    { tx_id: crypto.randomUUID(), max_fee: '1'.padEnd(30, '0') },
  );
  await refusedByAll(made, 'intent_mismatch', 'max_fee');
});

test('can order what the limits of the nodes allow, and nothing above them', async () => {
  const above = await orderOver({ nonce: 5_000, value: 10n ** 41n }, { tx_id: crypto.randomUUID() });
  await refusedByAll(above, 'node_policy', 'amount');
  const [numbers] = await gatewayQuery<{ last_value: string }>('select last_value from order_numbers');
  // more than the account has, so that it cannot be rebuilt from its order
  const bytes = { nonce: 5_000, to: randomAddress() as Address, value: parseEther('1000') };
  const made = await orderOver(bytes, { tx_id: unknownId, seq: Number(numbers?.last_value) + 1 });
  const { signatures } = await scene.temporal.sign(made, { initiator: 1, peer: 2 });
  assemble({ ...made, claims: ordered.claims }, signatures);
  for (const node of [1, 2] as const)
    expect(await nodeQuery(node, 'select outcome from journal where tx_id = $1', [unknownId])).toEqual([{ outcome: 'signed' }]);
});

test('what it has signed without the database closes the gateway, until an operator has looked at it', async () => {
  await closedForMissing();
  await expect(scene.accept()).rejects.toThrow('reconcile_required');
  // more than the account has could come with a deposit: it is accepted by name alone
  expect(await acceptMissing()).toContainEqual(expect.objectContaining({ subject: unknownId, result: 'not rebuilt' }));
  await isConfirmed(await scene.accept());
});

test.each([
  ['approve', `update transactions set approved_by = requested_by, approved_at = now() where tx_id = :tx`],
  ['accept or change a transfer', `update transactions set amount = 1 where tx_id = :tx`],
  ['pay another', `update transactions set to_address = from_address where tx_id = :tx`],
  ['end a transfer', `update transactions set status = 'FAILED', version = version + 1 where tx_id = :tx`],
  ['credit a balance', `update ledger_accounts set available = available + 1`],
])('cannot %s in the database', async (_, statement) => {
  expect(await refusal(loginOf('gateway_authoriser'), statement.replace(':tx', `'${ordered.txId}'`))).toBe('42501');
});

function transferCall(to: string, amount: bigint): `0x${string}` {
  return `0xa9059cbb${to.slice(2).toLowerCase().padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`;
}
