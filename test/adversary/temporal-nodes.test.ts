import { createPublicClient, http, type Address } from 'viem';
import { nodeIndexes, type NodeIndex } from '../../src/messages/nodes';
import { randomAddress } from '../factories';
import { claimsOf, forgeOrder, orderHead, signOrder } from '../orders';
import { stack } from '../stack/client';
import { nodeQuery, signingPairs } from './nodes';
import { isConfirmed, Scene, withoutWorker } from './scene';
import { alter, assemble, type OrderedTransfer } from './transfers';

/** SECURITY.md, list “Temporal”: a client of Temporal schedules what it likes on the queues of nodes and authoriser. */

const scene = new Scene();

const entries = (node: NodeIndex, { txId }: { txId: string }) =>
  nodeQuery<{ digests: string[]; outcome: string }>(node, 'select digests, outcome from journal where tx_id = $1', [txId]);

describe('cannot have anything signed that the authoriser has not ordered', () => {
  let ordered: OrderedTransfer;
  beforeAll(async () => {
    ordered = await withoutWorker(() => scene.order());
  }, 120_000);
  afterAll(() => isConfirmed(ordered));

  test.each(signingPairs)('an order of its own making is refused by nodes $initiator and $peer', async (pair) => {
    const { claims, unsigned } = ordered;
    const invented = await signOrder({ ...claims, ...orderHead({ dep: claims.dep }) });
    await expect(scene.temporal.sign({ order: invented, unsigned }, pair)).rejects.toMatchObject({ code: 'order_refused' });
    const otherType = await forgeOrder(claims, { typ: 'JWT' });
    await expect(scene.temporal.sign({ order: otherType, unsigned }, pair)).rejects.toMatchObject({ code: 'order_refused' });
  });

  test('without an order, or with a changed one, nothing is signed', async () => {
    const { unsigned, order: real } = ordered;
    const [header, , signature] = real.split('.');
    const claims = claimsOf(real);
    const paysMore = { ...claims, recipients: claims.recipients.map((paid) => ({ ...paid, amount: `${paid.amount}0` })) };
    const changed = `${header}.${Buffer.from(JSON.stringify(paysMore)).toString('base64url')}.${signature}`;
    const pair = { initiator: 1, peer: 2 } as const;
    await expect(scene.temporal.sign({ order: changed, unsigned }, pair)).rejects.toMatchObject({ code: 'order_refused' });
    await expect(scene.temporal.sign({ order: '', unsigned }, pair)).rejects.toMatchObject({ code: 'invalid_parameter' });
  });
});

describe('cannot change what is ordered', () => {
  test('a real order with other bytes is refused by every pair; the ordered bytes are signed afterwards', async () => {
    const ordered = await withoutWorker(async () => {
      const real = await scene.order();
      const others = [
        alter(real.unsigned, { to: randomAddress() as Address }),
        alter(real.unsigned, { value: 10n ** 18n }),
        alter(real.unsigned, { nonce: 999 }),
        alter(real.unsigned, { maxFeePerGas: 10n ** 15n }),
        alter(real.unsigned, { chainId: 10 }),
      ];
      for (const unsigned of others)
        for (const pair of signingPairs)
          await expect(scene.temporal.sign({ order: real.order, unsigned }, pair)).rejects.toMatchObject({
            code: 'intent_mismatch',
          });
      for (const node of nodeIndexes) expect(await entries(node, real)).toEqual([]);
      return real;
    });
    await isConfirmed(ordered);
  });

  test('the order of another transfer does not fit', async () => {
    const [one, other] = await withoutWorker(async () => {
      const both = [await scene.order(), await scene.order()] as const;
      const mixed = { order: both[0].order, unsigned: both[1].unsigned };
      for (const pair of signingPairs)
        await expect(scene.temporal.sign(mixed, pair)).rejects.toMatchObject({ code: 'intent_mismatch' });
      return both;
    });
    await isConfirmed(one);
    await isConfirmed(other);
  });
});

describe('can have the same bytes signed twice', () => {
  test('a real order again: the same signature, from the journal, without a new entry', async () => {
    const ordered = await withoutWorker(async () => {
      const real = await scene.order();
      const first = await scene.temporal.sign(real, { initiator: 1, peer: 2 });
      assemble(real, first.signatures);
      for (const [initiator, peer] of [
        [1, 2],
        [2, 1],
        [3, 1],
        [2, 3],
      ] as [NodeIndex, NodeIndex][])
        // prettier-ignore
        expect(await scene.temporal.sign(real, { initiator, peer })).toEqual(first);
      for (const node of [1, 2] as const) expect(await entries(node, real)).toMatchObject([{ outcome: 'signed' }]);
      return real;
    });
    await isConfirmed(ordered);
  });

  test('pairs that race for one order sign its bytes and nothing else, and the chain executes them once', async () => {
    const ordered = await withoutWorker(async () => {
      const real = await scene.order();
      const raced = await Promise.allSettled(signingPairs.map((pair) => scene.temporal.sign(real, pair)));
      const signed = raced.flatMap((result) => (result.status === 'fulfilled' ? [result.value.signatures] : []));
      expect(signed.length).toBeGreaterThan(0);
      for (const signatures of signed) assemble(real, signatures);
      const digests = real.claims.signers.flatMap((signer) => signer.digests);
      for (const node of nodeIndexes) for (const entry of await entries(node, real)) expect(entry.digests).toEqual(digests);
      return real;
    });
    await isConfirmed(ordered);
    const client = createPublicClient({ transport: http(stack().chains.ethereum?.rpc) });
    expect(await client.getBalance({ address: ordered.to as Address })).toBe(10n ** 16n);
  });
});
