import { createPrivateKey } from 'node:crypto';
import { nodeIndexes, type NodeIndex } from '../../src/messages/nodes';
import { readConfig } from '../../src/platform/config';
import { parseAmount } from '../../src/platform/money';
import { nodeOf } from '../families';
import { claimsOf, forgeOrder, orderHead, signOrder } from '../orders';
import { pids } from '../stack/pause';
import { nodeQuery, signingPairs } from './nodes';
import { environmentOf } from './processes';
import { describeEach, ProtocolScene } from './protocols';
import { isConfirmed, withoutWorker } from './scene';
import { amount, type OrderedTransfer } from './transfers';

/** SECURITY.md, list “Temporal”: a client of Temporal schedules what it likes on the queues of nodes and authoriser. */

const scenes = ProtocolScene.all();

const entries = (node: NodeIndex, { txId }: { txId: string }) =>
  nodeQuery<{ digests: string[]; outcome: string }>(node, 'select digests, outcome from journal where tx_id = $1', [txId]);

describeEach(scenes, (scene) => {
  describe('cannot have anything signed that the authoriser has not ordered', () => {
    let ordered: OrderedTransfer;
    beforeAll(async () => {
      ordered = await withoutWorker(() => scene.order());
      scene.leave(ordered);
    });

    test.each(signingPairs)('an order of its own making is refused by nodes $initiator and $peer', async (pair) => {
      const { claims, unsigned } = ordered;
      const invented = await signOrder({ ...claims, ...orderHead({ dep: claims.dep }) });
      await expect(scene.temporal.sign({ order: invented, unsigned }, pair)).rejects.toMatchObject({ code: 'order_refused' });
      // of the authoriser's own key, if that should ever sign anything else
      const { ORDER_KEY } = readConfig(['ORDER_KEY'], environmentOf(pids('authoriser')[0] ?? 0));
      const otherType = await forgeOrder(claims, { key: createPrivateKey(ORDER_KEY), typ: 'JWT' });
      const refused = { code: 'order_refused', message: expect.stringContaining('typ') as string };
      await expect(scene.temporal.sign({ order: otherType, unsigned }, pair)).rejects.toMatchObject(refused);
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
        const others = scene.of.others(real.unsigned, 300);
        for (const unsigned of others)
          for (const pair of signingPairs)
            await expect(scene.temporal.sign({ order: real.order, unsigned }, pair)).rejects.toMatchObject({
              code: 'intent_mismatch',
            });
        for (const node of nodeIndexes) expect(await entries(node, real)).toEqual([]);
        return real;
      });
      scene.leave(ordered);
    });

    test('the order of another transfer does not fit', async () => {
      const [one, other] = await withoutWorker(async () => {
        const both = [await scene.order(), await scene.order()] as const;
        const mixed = { order: both[0].order, unsigned: both[1].unsigned };
        for (const pair of signingPairs)
          await expect(scene.temporal.sign(mixed, pair)).rejects.toMatchObject({ code: 'intent_mismatch' });
        return both;
      });
      scene.leave(one);
      scene.leave(other);
    });
  });

  describe('can have the same bytes signed twice', () => {
    test('a real order again: the same signature, from the journal, without a new entry', async () => {
      const ordered = await withoutWorker(async () => {
        const real = await scene.order();
        const first = await scene.temporal.sign(real, { initiator: 1, peer: 2 });
        scene.assemble(real, first.signatures);
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
      scene.leave(ordered);
    });

    test('pairs that race for one order sign its bytes and nothing else, and the chain executes them once', async () => {
      const ordered = await withoutWorker(async () => {
        const real = await scene.order();
        const raced = await Promise.allSettled(signingPairs.map((pair) => scene.temporal.sign(real, pair)));
        const signed = raced.flatMap((result) => (result.status === 'fulfilled' ? [result.value.signatures] : []));
        expect(signed.length).toBeGreaterThan(0);
        for (const signatures of signed) scene.assemble(real, signatures);
        const digests = real.claims.signers.flatMap((signer) => signer.digests);
        for (const node of nodeIndexes) for (const entry of await entries(node, real)) expect(entry.digests).toEqual(digests);
        return real;
      });
      await isConfirmed(ordered);
      const { chain, decimals } = scene.of.fixture;
      expect(await nodeOf(chain).balanceOf(ordered.to)).toBe(parseAmount(amount, decimals));
    });
  });
});
