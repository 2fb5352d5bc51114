import { createHash, randomUUID } from 'node:crypto';
import { createPublicClient, http, parseEther, parseTransaction, type Address } from 'viem';
import { evmFamily } from '../../src/chains/evm/family';
import type { NodeIndex } from '../../src/messages/nodes';
import { generateKeyWorkflowId } from '../../src/messages/workflow-ids';
import { signStatement, type SignedStatement, toWire } from '../../src/mpc/statement';
import { randomAddress } from '../factories';
import { signRefusal } from '../node-refusals';
import { DishonestEngine } from '../integration/mpc/engines';
import { claimsOf, orderHead, orderKeys, signOrder } from '../orders';
import { stack, waitFor } from '../stack/client';
import { digestOf } from '../evm';
import { WithholdingEngine } from './engines';
import { alarms, metric, nodeIdentity, nodeQuery, restartNodes } from './nodes';
import { cheat, ForgingPeer } from './peer';
import { StandIn } from './stand-in';
import { gatewayQuery } from './processes';
import { isConfirmed, Scene, withoutWorker } from './scene';
import { alter, amount, assemble, type OrderedTransfer } from './transfers';

/** SECURITY.md, list “One signing node”: node 3 has its certificate, its share and its database, and a program of the adversary's. */

type PeerIndex = Exclude<NodeIndex, 3>;
const peers: PeerIndex[] = [1, 2];

const scene = new Scene({ ownWallet: true });
let peer: ForgingPeer;
beforeAll(() => {
  peer = new ForgingPeer();
});
afterAll(() => peer.close());

const proposeToSign = (
  to: PeerIndex,
  { order, unsigned }: Pick<OrderedTransfer, 'order' | 'unsigned'>,
  entry?: SignedStatement,
) => peer.propose(to, 'sign', { transaction: { order, unsigned, peer: to }, payload: 0 }, entry);
const entries = (node: NodeIndex, { txId }: { txId: string }) =>
  nodeQuery<{ outcome: string; statement: string }>(node, 'select outcome, statement from journal where tx_id = $1', [txId]);
/** What the node has on record as refused to a peer that has shown this order. */
const refusedToPeers = (node: NodeIndex, order: string) =>
  nodeQuery<{ code: string; peer: number }>(
    node,
    `select code, peer from refused_requests where role = 'peer' and named ->> 'jti' = $1 order by number`,
    [claimsOf<{ jti: string }>(order).jti],
  );
const bans = (node: NodeIndex) =>
  nodeQuery<{ peer: number }>(node, 'select peer from bans where key_id = $1', [scene.account.keyId]);

describe('cannot have anything signed without an order', () => {
  let ordered: OrderedTransfer;
  beforeAll(async () => {
    ordered = await withoutWorker(async () => {
      const real = await scene.order();
      await scene.temporal.sign(real, { initiator: 1, peer: 2 });
      return real;
    });
  }, 120_000);
  afterAll(() => isConfirmed(ordered));

  test.each(peers)('it invents a transaction and an order for it: node %d refuses', async (to) => {
    const { claims } = ordered;
    const unsigned = alter(ordered.unsigned, { to: randomAddress() as Address, nonce: 700 + to });
    const signers = claims.signers.map((signer) => ({ ...signer, digests: [digestOf(unsigned, claims.from)] }));
    const invented = await signOrder({ ...claims, ...orderHead({ dep: claims.dep }), signers });
    await expect(proposeToSign(to, { order: invented, unsigned })).rejects.toMatchObject({ code: 'order_refused' });
    expect(await refusedToPeers(to, invented)).toEqual([{ code: 'order_refused', peer: cheat }]);
  });

  test.each(peers)('it changes the bytes of a real order: node %d refuses', async (to) => {
    for (const changes of [{ to: randomAddress() as Address }, { value: parseEther('1') }, { nonce: 700 + to }])
      await expect(proposeToSign(to, { ...ordered, unsigned: alter(ordered.unsigned, changes) })).rejects.toMatchObject({
        code: 'intent_mismatch',
      });
    const refused = await refusedToPeers(to, ordered.order);
    expect(refused).toEqual(Array.from({ length: 3 }, () => ({ code: 'intent_mismatch', peer: cheat })));
  });

  test.each(peers)('it uses a real order for something else: node %d refuses', async (to) => {
    const refused = { code: 'order_refused', message: expect.stringContaining('kind') as string };
    await expect(peer.propose(to, 'test', { order: ordered.order, peer: to })).rejects.toMatchObject(refused);
    await expect(peer.propose(to, 'keygen', { order: ordered.order })).rejects.toMatchObject(refused);
  });

  test.each(peers)('it keeps its own journal entry back, or sends one about something else: node %d refuses', async (to) => {
    const refused = { message: expect.stringContaining("the peer's journal entry is") as string };
    await expect(proposeToSign(to, ordered)).rejects.toMatchObject(refused);
    const wrong = await peer.entry(to, ordered.txId, { amount: '1' });
    await expect(proposeToSign(to, ordered, wrong)).rejects.toMatchObject(refused);
  });

  test.each(peers)('it replays a real order: node %d answers with the earlier signature, and writes no entry', async (to) => {
    const before = await entries(to, ordered);
    const { signatures } = await scene.temporal.sign(ordered, { initiator: 1, peer: 2 });
    for (let times = 0; times < 3; times += 1)
      expect(await proposeToSign(to, ordered, await peer.entry(to, ordered.txId))).toEqual({ recorded: signatures[0] });
    expect(await entries(to, ordered)).toEqual(before);
  });
});

test('can fill its peers’ journals with entries about an attempt that is not signed, one session at a time: the others sign it', async () => {
  const [known] = await nodeQuery<{ tx_id: string }>(1, 'select tx_id from journal where key_id = $1 limit 1', [
    scene.account.keyId,
  ]);
  const ordered = await withoutWorker(async () => {
    const real = await scene.order();
    const { claims, order, unsigned } = real;
    const entry = () =>
      peer.entry(1, known?.tx_id ?? '', {
        tx_id: real.txId,
        order_hash: createHash('sha256').update(order).digest('hex'),
        order_seq: claims.seq,
        digests: claims.signers.flatMap(({ digests }) => digests),
        resources: [`ethereum/${claims.from.toLowerCase()}/${parseTransaction(unsigned).nonce}`],
        fee: evmFamily.describe(unsigned).maxNetworkFee.toString(),
      });
    for (let count = 1; count <= 2; count += 1) {
      const own = await entry();
      await proposeToSign(1, real, own);
      expect(await entries(1, real)).toHaveLength(count);
      await expect(proposeToSign(1, real, await entry())).rejects.toMatchObject({ code: 'signers_unavailable' });
      // it says nothing more: node 1 ends the session
      await waitFor(async () => (await entries(1, real)).every(({ outcome }) => outcome === 'not_begun'), { timeoutMs: 30_000 });
      await peer.record(own, real);
    }
    assemble(real, (await scene.temporal.sign(real, { initiator: 1, peer: 2 })).signatures);
    return real;
  });
  await isConfirmed(ordered);
});

test('cannot make test signatures with a key that is in use, however often it asks', async () => {
  const newest = (await generateKeyOrders(scene.account.walletId)).at(-1);
  for (const to of peers) {
    const refused = { code: 'order_refused', message: expect.stringContaining('bound') as string };
    for (let times = 0; times < 20; times += 1)
      await expect(peer.propose(to, 'test', { order: newest, peer: to })).rejects.toMatchObject(refused);
  }
});

test('cannot make more than eight test signatures with a new key, nor send its messages in another order', async () => {
  const walletId = randomUUID();
  const { client_id: clientId } = stack().clients[0] ?? {};
  await gatewayQuery('insert into wallets (wallet_id, client_id, wallet_name) values ($1, $2, $3)', [
    walletId,
    clientId,
    walletId,
  ]);
  const { order: made } = await scene.temporal.authoriser('orderKeyGeneration', { walletId, keyId: `${walletId}.1` });
  await scene.temporal.node(1, 'generateKey', { order: made });
  await expect(peer.beginWithRound(2, 1, { order: made, peer: 1 })).rejects.toThrow(/sent round 2 instead of 1/);
  let accepted = 1;
  for (let times = 0; times < 20; times += 1)
    await peer.propose(1, 'test', { order: made, peer: 1 }).then(
      () => (accepted += 1),
      (error: unknown) => expect(error).toMatchObject({ code: 'order_refused' }),
    );
  expect(accepted).toBe(8);
  await gatewayQuery('delete from wallets where wallet_id = $1', [walletId]);
});

test('cannot tell a ban in the name of another node', async () => {
  const ban = { node: 1, key_id: scene.account.keyId, peer: 2, reason: 'none', banned_at: new Date().toISOString() };
  const { signingKey } = nodeIdentity(cheat);
  await expect(peer.ban(2, signStatement('ban', ban, signingKey))).rejects.toThrow(/a node tells its own bans only/);
  expect(await nodeQuery(2, 'select from peer_bans where key_id = $1', [scene.account.keyId])).toEqual([]);
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
  await isConfirmed(ordered);
});

test('can refuse everything: the other two go on', async () => {
  const standIn = await StandIn.start({ orderKeys });
  try {
    const accepted = [await scene.accept(), await scene.accept(), await scene.accept()];
    for (const transfer of accepted) await isConfirmed(transfer);
    for (const transfer of accepted) expect(await entries(cheat, transfer)).toEqual([]);
  } finally {
    await standIn.stop();
  }
});

test('can withhold its last message and broadcast by itself: the ordered bytes are executed once, and the session counts', async () => {
  const engine = new WithholdingEngine();
  const standIn = await StandIn.start({ engine });
  try {
    const chain = createPublicClient({ transport: http(stack().chains.ethereum?.rpc) });
    const ordered = await withoutWorker(async () => {
      const real = await scene.order();
      engine.isWithholding = true;
      const { signatures } = await scene.temporal.sign(real, { initiator: cheat, peer: 1 });
      engine.isWithholding = false;
      await waitFor(async () => (await entries(1, real))[0]?.outcome === 'failed', { timeoutMs: 20_000 });
      expect(await metric(1, 'mpc_signatures_total{outcome="failed"}')).toBeGreaterThan(0);
      await chain.request({ method: 'eth_sendRawTransaction', params: [assemble(real, signatures)] });
      return real;
    });
    await isConfirmed(ordered);
    expect(await chain.getBalance({ address: ordered.to as Address })).toBe(parseEther(amount));
    expect(await bans(1)).toEqual([]);
  } finally {
    await standIn.stop();
  }
});

test('can violate the protocol once for each peer: it is banned and named, the other pair signs, also after all were restarted', async () => {
  const refused = { code: 'key_peer_banned' };
  const engine = new DishonestEngine();
  const standIn = await StandIn.start({ engine });
  try {
    const ordered = await withoutWorker(async () => {
      const real = await scene.order();
      engine.flipInRound = 1;
      for (const initiator of peers) {
        await expect(scene.temporal.sign(real, { initiator, peer: cheat })).rejects.toMatchObject({
          code: 'signers_unavailable',
        });
        expect(await bans(initiator)).toEqual([{ peer: cheat }]);
        expect(await metric(initiator, `mpc_peer_misbehaviour_total{peer="${cheat}"}`)).toBe(1);
        expect(alarms(initiator)).toContainEqual(
          expect.objectContaining({ alert: 'peer_banned', peer: cheat, key_id: scene.account.keyId }),
        );
      }
      engine.flipInRound = 0;
      for (const initiator of peers) {
        await expect(scene.temporal.sign(real, { initiator, peer: cheat })).rejects.toMatchObject(refused);
        await expect(scene.temporal.sign(real, { initiator: cheat, peer: initiator })).rejects.toMatchObject(refused);
      }
      assemble(real, (await scene.temporal.sign(real, { initiator: 1, peer: 2 })).signatures);
      return real;
    });
    await isConfirmed(ordered);
    // each has told the other: two bans that name one node
    for (const node of peers) {
      await waitFor(async () => (await metric(node, `mpc_bans{peer="${cheat}"}`)) === 2);
      expect(alarms(node)).toContainEqual(expect.objectContaining({ alert: 'node_banned_repeatedly', node: cheat }));
    }
  } finally {
    await standIn.stop();
  }
  await restartNodes(peers);
  for (const node of peers) {
    expect(await bans(node)).toEqual([{ peer: cheat }]);
    expect(await metric(node, `mpc_bans{peer="${cheat}"}`)).toBe(2);
  }
  const later = await withoutWorker(async () => {
    const real = await scene.order();
    for (const node of peers) {
      await expect(scene.temporal.sign(real, { initiator: node, peer: cheat })).rejects.toMatchObject(refused);
      await expect(scene.temporal.sign(real, { initiator: cheat, peer: node })).rejects.toMatchObject(refused);
    }
    return real;
  });
  await isConfirmed(later);
});

/** The orders of a key's generation, from the history of its workflow. */
async function generateKeyOrders(walletId: string): Promise<string[]> {
  const results = await scene.temporal.results(generateKeyWorkflowId(walletId));
  const orders = results.flatMap((result) => (result as { order?: string } | null)?.order ?? []);
  return orders.filter((found) => claimsOf<{ kind: string }>(found).kind === 'generate_key');
}
