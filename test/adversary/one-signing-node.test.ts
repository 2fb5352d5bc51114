import { createHash } from 'node:crypto';
import type { NodeIndex } from '../../src/messages/nodes';
import { signStatement, toWire } from '../../src/mpc/statement';
import { getResources } from '../../src/mpc/verify/ordered';
import { parseAmount } from '../../src/platform/money';
import { nodeOf } from '../families';
import { signRefusal } from '../node-refusals';
import { claimsOf, orderHead, orderKeys, signOrder } from '../orders';
import { waitFor } from '../stack/client';
import { CheatingEngine } from './engines';
import { alarms, metric, nodeIdentity, nodeQuery, restartNodes } from './nodes';
import { cheat, ForgingPeer } from './peer';
import { describeEach, ProtocolScene } from './protocols';
import { isConfirmed, withoutWorker } from './scene';
import { StandIn } from './stand-in';
import { amount, type OrderedTransfer } from './transfers';

/** SECURITY.md, list “One signing node”: node 3 has its certificate, its share and its database, and a program of the adversary's. */

type PeerIndex = Exclude<NodeIndex, 3>;
const peers: PeerIndex[] = [1, 2];

const scenes = ProtocolScene.all({ ownWallet: true });
const [scene] = scenes as [ProtocolScene];
const forging = new Map(scenes.map((of) => [of, new ForgingPeer(of.of.protocol)]));
const peerOf = (of: ProtocolScene): ForgingPeer => forging.get(of) as ForgingPeer;
afterAll(() => forging.forEach((peer) => peer.close()));

const entries = (node: NodeIndex, { txId }: { txId: string }) =>
  nodeQuery<{ outcome: string; statement: string }>(node, 'select outcome, statement from journal where tx_id = $1', [txId]);
/** What the node has on record as refused to a peer that has shown this order. */
const refusedToPeers = (node: NodeIndex, order: string) =>
  nodeQuery<{ code: string; peer: number }>(
    node,
    `select code, peer from refused_requests where role = 'peer' and named ->> 'jti' = $1 order by number`,
    [claimsOf<{ jti: string }>(order).jti],
  );
const bansOf = (node: NodeIndex, { account }: ProtocolScene) =>
  nodeQuery<{ peer: number }>(node, 'select peer from bans where key_id = $1', [account.keyId]);
/** Those that its peers have told it. */
const toldBansOf = (node: NodeIndex, { account }: ProtocolScene) =>
  nodeQuery<{ node: number; peer: number }>(node, 'select node, peer from peer_bans where key_id = $1 and node <> $2', [
    account.keyId,
    cheat,
  ]);

describeEach(scenes, (scene) => {
  const peer = peerOf(scene);

  describe('cannot have anything signed without an order', () => {
    let ordered: OrderedTransfer;
    beforeAll(async () => {
      ordered = await withoutWorker(async () => {
        const real = await scene.order();
        await scene.temporal.sign(real, { initiator: 1, peer: 2 });
        return real;
      });
      scene.leave(ordered);
    });

    test.each(peers)('it invents a transaction and an order for it: node %d refuses', async (to) => {
      const { claims } = ordered;
      const [unsigned = '0x'] = scene.of.others(ordered.unsigned, to);
      const digests = scene.family.signingPayloads(unsigned, claims.from).map(({ digest }) => digest);
      const signers = claims.signers.map((signer) => ({ ...signer, digests }));
      const invented = await signOrder({ ...claims, ...orderHead({ dep: claims.dep }), signers });
      await expect(peer.proposeToSign(to, { order: invented, unsigned })).rejects.toMatchObject({ code: 'order_refused' });
      expect(await refusedToPeers(to, invented)).toEqual([{ code: 'order_refused', peer: cheat }]);
    });

    test.each(peers)('it changes the bytes of a real order: node %d refuses', async (to) => {
      const others = scene.of.others(ordered.unsigned, to);
      for (const unsigned of others)
        await expect(peer.proposeToSign(to, { ...ordered, unsigned })).rejects.toMatchObject({ code: 'intent_mismatch' });
      expect(await refusedToPeers(to, ordered.order)).toEqual(others.map(() => ({ code: 'intent_mismatch', peer: cheat })));
    });

    test.each(peers)('it uses a real order for something else: node %d refuses', async (to) => {
      const refused = { code: 'order_refused', message: expect.stringContaining('kind') as string };
      await expect(peer.propose(to, 'test', { order: ordered.order, peer: to })).rejects.toMatchObject(refused);
      await expect(peer.propose(to, 'keygen', { order: ordered.order })).rejects.toMatchObject(refused);
    });

    test.each(peers)('it keeps its own journal entry back, or sends one about something else: node %d refuses', async (to) => {
      const refused = { message: expect.stringContaining("the peer's journal entry is") as string };
      await expect(peer.proposeToSign(to, ordered)).rejects.toMatchObject(refused);
      const wrong = await peer.entry(to, ordered.txId, { amount: '1' });
      await expect(peer.proposeToSign(to, ordered, wrong)).rejects.toMatchObject(refused);
    });

    test.each(peers)('it replays a real order: node %d answers with the earlier signature, and writes no entry', async (to) => {
      const before = await entries(to, ordered);
      const { signatures } = await scene.temporal.sign(ordered, { initiator: 1, peer: 2 });
      for (let times = 0; times < 3; times += 1)
        expect(await peer.proposeToSign(to, ordered, await peer.entry(to, ordered.txId))).toEqual({ recorded: signatures[0] });
      expect(await entries(to, ordered)).toEqual(before);
    });
  });

  test('can fill its peers’ journals with entries about an attempt that is not signed, one session at a time: the others sign it', async () => {
    const ordered = await withoutWorker(async () => {
      const real = await scene.order();
      for (let count = 1; count <= 2; count += 1) {
        const own = await entryAbout(real, 1, scene);
        await peer.proposeToSign(1, real, own);
        expect(await entries(1, real)).toHaveLength(count);
        await expect(peer.proposeToSign(1, real, await entryAbout(real, 1, scene))).rejects.toMatchObject({
          code: 'signers_unavailable',
        });
        // it says nothing more: node 1 ends the session
        await waitFor(async () => (await entries(1, real)).every(({ outcome }) => outcome === 'not_begun'), {
          timeoutMs: 30_000,
        });
        await peer.record(own, real);
      }
      scene.assemble(real, (await scene.temporal.sign(real, { initiator: 1, peer: 2 })).signatures);
      return real;
    });
    scene.leave(ordered);
  });

  test('cannot make test signatures with a key that is in use, however often it asks', async () => {
    const newest = (await generateKeyOrders(scene)).at(-1);
    for (const to of peers) {
      const refused = { code: 'order_refused', message: expect.stringContaining('bound') as string };
      for (let times = 0; times < 20; times += 1)
        await expect(peer.propose(to, 'test', { order: newest, peer: to })).rejects.toMatchObject(refused);
    }
  });

  test('cannot make more than eight test signatures with a new key, nor send its messages in another order', async () => {
    const { order: made, remove } = await scene.of.orderNewKey(scene.temporal, scene.account);
    await scene.temporal.node(1, 'generateKey', { order: made });
    await expect(peer.beginWithRound(2, 1, { order: made, peer: 1 })).rejects.toThrow(/sent round 2 instead of 1/);
    let accepted = 1;
    for (let times = 0; times < 20; times += 1)
      await peer.propose(1, 'test', { order: made, peer: 1 }).then(
        () => (accepted += 1),
        (error: unknown) => expect(error).toMatchObject({ code: 'order_refused' }),
      );
    expect(accepted).toBe(8);
    await remove();
  });
});

test('cannot tell a ban in the name of another node', async () => {
  const ban = { node: 1, key_id: scene.account.keyId, peer: 2, reason: 'none', banned_at: new Date().toISOString() };
  const { signingKey } = nodeIdentity(cheat);
  await expect(peerOf(scene).ban(2, signStatement('ban', ban, signingKey))).rejects.toThrow(/a node tells its own bans only/);
  expect(await toldBansOf(2, scene)).toEqual([]);
});

test('cannot have a transfer abandoned by its refusals alone', async () => {
  const ordered = await withoutWorker(async () => {
    const real = await scene.order();
    const { signingKey } = nodeIdentity(cheat);
    const refuse = (node: NodeIndex, reason: string) => {
      const { text } = signRefusal(node, { tx_id: real.txId, attempt: 1 }, { reason });
      return toWire(signStatement('refusal', JSON.parse(text) as object, signingKey));
    };
    const refusals = [refuse(cheat, 'one reason'), refuse(cheat, 'another reason'), refuse(1, 'one reason')];
    expect(await scene.temporal.authoriser('recordNodeRefusals', { txId: real.txId, refusals })).toEqual({ accepted: false });
    return real;
  });
  scene.leave(ordered);
});

describe('with a program that knows no order of the authoriser', () => {
  let standIn: StandIn;
  beforeAll(async () => {
    standIn = await StandIn.start({ orderKeys });
  });
  afterAll(() => standIn.stop());

  describeEach(scenes, (scene) =>
    test('can refuse everything: the other two go on', async () => {
      const accepted = [await scene.accept(), await scene.accept(), await scene.accept()];
      for (const transfer of accepted) await isConfirmed(transfer);
      for (const transfer of accepted) expect(await entries(cheat, transfer)).toEqual([]);
    }),
  );
});

describe('with a program that cheats', () => {
  const engine = new CheatingEngine();
  let standIn: StandIn;
  beforeAll(async () => {
    standIn = await StandIn.start({ engine });
  });
  afterEach(() => {
    engine.cheats = null;
  });
  afterAll(() => standIn.stop());

  describeEach(scenes, (scene) => {
    test('can withhold its last message and broadcast by itself: the ordered bytes are executed once, and the session counts', async () => {
      const failed = 'gateway_mpc_signatures_total{outcome="failed"}';
      const { chain, decimals } = scene.of.fixture;
      const before = await metric(1, failed);
      const { ordered, id } = await withoutWorker(async () => {
        const real = await scene.order();
        engine.cheats = 'withholds';
        const { signatures } = await scene.temporal.sign(real, { initiator: cheat, peer: 1 });
        engine.cheats = null;
        await waitFor(async () => (await entries(1, real))[0]?.outcome === 'failed');
        // counted after it is on record
        await waitFor(async () => (await metric(1, failed)) === before + 1);
        const sent = scene.assemble(real, signatures);
        await scene.of.broadcast(sent.bytes);
        return { ordered: real, id: sent.id };
      });
      await isConfirmed(ordered);
      expect(await nodeOf(chain).balanceOf(ordered.to)).toBe(parseAmount(amount, decimals));
      expect(await nodeOf(chain).isIncluded(id)).toBe(true);
      expect(await bansOf(1, scene)).toEqual([]);
    });

    test('can violate the protocol once for each peer, or in up to 32 sessions: it is banned and named, the other pair signs', async () => {
      const ordered = await withoutWorker(async () => {
        const real = await scene.order();
        const named = `gateway_mpc_peer_misbehaviour_total{peer="${cheat}"}`;
        const before = await Promise.all(peers.map((node) => metric(node, named)));
        engine.cheats = 'spoils';
        await Promise.all(peers.map((initiator) => spoil(scene, real, initiator)));
        for (const [at, node] of peers.entries()) {
          expect(await bansOf(node, scene)).toEqual([{ peer: cheat }]);
          expect(await metric(node, named)).toBe((before[at] ?? 0) + 1);
          expect(alarms(node)).toContainEqual(
            expect.objectContaining({ alert: 'peer_banned', peer: cheat, key_id: scene.account.keyId }),
          );
        }
        engine.cheats = null;
        await refusesBanned(scene, real);
        scene.assemble(real, (await scene.temporal.sign(real, { initiator: 1, peer: 2 })).signatures);
        return real;
      });
      scene.leave(ordered);
      // each has told the other: two bans that name one node
      for (const node of peers) {
        await waitFor(async () => (await toldBansOf(node, scene)).length > 0);
        expect(await toldBansOf(node, scene)).toEqual([{ node: node === 1 ? 2 : 1, peer: cheat }]);
      }
    });
  });

  // the metric and the alarm name no key
  test('a node that two others have banned is an alarm', async () => {
    for (const node of peers) {
      await waitFor(async () => (await metric(node, `gateway_mpc_bans{peer="${cheat}"}`)) === 2);
      expect(alarms(node)).toContainEqual(expect.objectContaining({ alert: 'node_banned_repeatedly', node: cheat }));
    }
  });
});

describe('once the others were restarted', () => {
  beforeAll(() => restartNodes(peers));

  test('they still count its bans', async () => {
    for (const node of peers) expect(await metric(node, `gateway_mpc_bans{peer="${cheat}"}`)).toBe(2);
  });

  describeEach(scenes, (scene) =>
    test('its bans hold', async () => {
      for (const node of peers) expect(await bansOf(node, scene)).toEqual([{ peer: cheat }]);
      const later = await withoutWorker(async () => {
        const real = await scene.order();
        await refusesBanned(scene, real);
        return real;
      });
      scene.leave(later);
    }),
  );
});

/** Sessions that fail until `initiator` refuses the peer: its ban is durable then. @throws Error for more of them than can be spoilt. */
async function spoil({ temporal, of }: ProtocolScene, ordered: OrderedTransfer, initiator: PeerIndex): Promise<void> {
  for (let spoilt = 0; ; spoilt += 1) {
    const code = await temporal.sign(ordered, { initiator, peer: cheat }).then(
      () => 'signed',
      (error: { code?: string }) => error.code,
    );
    if (code === 'key_peer_banned') return void expect(spoilt).toBeGreaterThan(Math.floor(of.spoilable / 2));
    expect([spoilt < of.spoilable, code]).toEqual([true, 'signers_unavailable']);
  }
}

/** Each of the peers, asked by Temporal to sign with it, and asked by itself, whose program asks them all the same. */
async function refusesBanned(scene: ProtocolScene, ordered: OrderedTransfer): Promise<void> {
  const refused = { code: 'key_peer_banned' };
  for (const node of peers) {
    await expect(scene.temporal.sign(ordered, { initiator: node, peer: cheat })).rejects.toMatchObject(refused);
    const entry = await entryAbout(ordered, node, scene);
    await expect(peerOf(scene).proposeToSign(node, ordered, entry)).rejects.toMatchObject(refused);
  }
}

/** Node 3's own journal entry about an order that is not signed. */
async function entryAbout({ txId, claims, order, unsigned }: OrderedTransfer, to: PeerIndex, scene: ProtocolScene) {
  const [known] = await nodeQuery<{ tx_id: string }>(1, 'select tx_id from journal where key_id = $1 limit 1', [
    scene.account.keyId,
  ]);
  const { chain, family } = scene;
  const [from, described] = [family.parseAddress(claims.from), family.describe(unsigned)];
  if (!known || !from) throw new Error('there is nothing to make an entry from');
  return peerOf(scene).entry(to, known.tx_id, {
    tx_id: txId,
    order_hash: createHash('sha256').update(order).digest('hex'),
    order_seq: claims.seq,
    digests: claims.signers.flatMap(({ digests }) => digests),
    resources: getResources({ chain, from, described }),
    fee: described.maxNetworkFee.toString(),
  });
}

/** The orders of a key's generation, from the history of its workflow. */
async function generateKeyOrders({ temporal, of, account }: ProtocolScene): Promise<string[]> {
  const results = await temporal.results(of.generationOf(account));
  const orders = results.flatMap((result) => (result as { order?: string } | null)?.order ?? []);
  return orders.filter((found) => claimsOf<{ kind: string }>(found).kind === 'generate_key');
}
