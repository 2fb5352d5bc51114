import { HDKey } from '@scure/bip32';
import { retryUpdate } from '../../../src/messages/transfer';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { verifyLedger } from '../../../src/ledger/verify';
import type { ImpossibilityProver } from '../../../src/chains/chain-client';
import { nodeIndexes } from '../../../src/messages/nodes';
import { tronFixture } from '../../families/tron';
import { committedKey } from '../../shares';
import { connectTron } from '../../tron-client';
import { trx } from '../../tron-simulator';
import { Gate } from '../families/gate';
import { Group } from '../mpc/group';
import { type Changes, ServedChain, until } from '../transfers/served';
import { createTronFixture, type TronFixture } from './fixture';

jest.setTimeout(180_000);

/** Attempts that expire while the gateway does not see the chain; signed by three nodes, each with an endpoint of its own. */

interface Scene extends TronFixture {
  gate: Gate;
  group: Group;
}

/** An attempt expires 12 s after it was prepared. */
const chainChanges = { blockTimeMs: 100 };
const amount = trx(5);

async function createScene(): Promise<Scene> {
  const gate = new Gate();
  const key = new HDKey(committedKey);
  const fixture = await createTronFixture({
    ...{ changes: chainChanges, route: (url) => gate.before(url), key },
    ...{ blockMs: chainChanges.blockTimeMs, isMining: true },
  });
  const { simulated, registry, wallet, alice } = fixture;
  const prover = (name: string): ImpossibilityProver => connectTron(simulated, [name], { ...chainChanges, now: Date.now });
  const options = (name: string) => ({ registry, provers: new Map([['tron', prover(name)]]) });
  const group = await Group.create({ 1: options('of-1'), 2: options('of-2'), 3: options('of-3') });
  await group.addKey(wallet.keyId, { clientId: wallet.clientId });
  await fixture.send(alice, trx(1_000));
  await fixture.mine(fixture.chain.confirmations);
  await fixture.follow();
  const close = async () => {
    await group.close();
    await fixture.close();
    await gate.remove();
  };
  return { ...fixture, gate, group, close };
}

const served = new ServedChain<Scene>(createScene);
let fixture: Scene;
let to: string;
beforeEach(() => {
  fixture = served.fixture;
  to = tronFixture.newAddress();
});

const serve = (changes: Changes = {}) =>
  served.serve({
    ...changes,
    node: (node) => ({ signTransaction: (request) => fixture.group.node(node).activities.signTransaction(request) }),
  });
/** The endpoint is down from the moment when the first attempt is signed and stored. */
const serveWithoutEndpoint = () => {
  const { gate, onChain } = fixture;
  let wasDown = false;
  return serve({
    chain: {
      broadcast: (input) => {
        if (!wasDown) gate.close();
        wasDown = true;
        return onChain.broadcast(input);
      },
    },
  });
};
const submit = () => served.submit({ tokenSymbol: 'TRX', amount: '5', toAddress: to });
const kinds = async (txId: string) => (await fixture.attempts(txId)).map(({ kind }) => kind);
const askChain = (txId: string) =>
  served.client.workflow
    .getHandle(transferWorkflowId(txId))
    .executeUpdate(retryUpdate)
    .catch(() => undefined);
/** Of the first attempt: no block holds it any more, unless one does already. */
const hasExpired = (txId: string) =>
  until('it has expired', async () => {
    const [first] = await fixture.attempts(txId);
    const expiry = first?.expiry as { expiration: number } | undefined;
    return expiry !== undefined && expiry.expiration + 1_000 < Date.now();
  });
const ends = (txId: string, as: string) =>
  until(`${txId} is ${as}`, async () => {
    await fixture.mine();
    await fixture.follow();
    await askChain(txId);
    return (await served.status(txId)) === as;
  });
const movedOnce = async () => {
  const { alice, simulated, balance, database } = fixture;
  const node = tronFixture.node(simulated.url);
  expect(await node.balanceOf(to)).toBe(amount);
  expect(await balance(alice, 'TRX')).toEqual({ available: await node.balanceOf(alice.address), locked: 0n });
  expect(await verifyLedger(database.manager)).toEqual([]);
};

test('expired while the endpoint was down: reissued once two nodes have proven it, and the money moves once', async () => {
  const { gate, group } = fixture;
  await serveWithoutEndpoint();
  const txId = await submit();
  await hasExpired(txId);
  expect(await kinds(txId)).toEqual(['first']);
  gate.open();
  await ends(txId, 'CONFIRMED');
  // on a slow machine the reissue may expire as well
  expect((await kinds(txId)).slice(0, 2)).toEqual(['first', 'reissue']);
  await movedOnce();
  const proofs = await Promise.all(
    nodeIndexes.map((node) =>
      group.query<{ endpoint: string }>(
        node,
        `select proofs -> 0 ->> 'endpoint' as endpoint from journal where kind = 'reissue'`,
      ),
    ),
  );
  const found = proofs.filter((rows) => rows.length > 0);
  expect(found.length).toBeGreaterThanOrEqual(2);
  for (const [row] of found) expect(row).toEqual({ endpoint: new URL(fixture.simulated.url).host });
});

test('included late, while the endpoint was down, and only then expired: settled, and nothing is reissued', async () => {
  const { gate, onChain, simulated } = fixture;
  await simulated.control('delay', { blocks: 20 });
  let isSent = false;
  await serve({
    chain: {
      broadcast: async (input) => {
        const sent = await onChain.broadcast(input);
        if (!isSent) gate.close();
        isSent = true;
        return sent;
      },
    },
  });
  const txId = await submit();
  await hasExpired(txId);
  gate.open();
  await ends(txId, 'CONFIRMED');
  expect(await kinds(txId)).toEqual(['first']);
  await movedOnce();
});

test('expired, and a node is without its endpoint: the two others sign it anew', async () => {
  const { group, registry, simulated, gate } = fixture;
  await group.stop(1);
  await group.start(1, { registry });
  await serveWithoutEndpoint();
  const txId = await submit();
  await hasExpired(txId);
  gate.open();
  await ends(txId, 'CONFIRMED');
  expect((await kinds(txId)).slice(0, 2)).toEqual(['first', 'reissue']);
  expect(await group.query(1, `select from journal where kind = 'reissue'`)).toEqual([]);
  expect(await tronFixture.node(simulated.url).balanceOf(to)).toBe(amount);
});

test('expired before any node has signed it: followed until that is proven, and reissued', async () => {
  let isDown = true;
  await served.serve({
    node: (node) => ({
      signTransaction: (request) => {
        if (isDown) return Promise.reject(new Error('down'));
        return fixture.group.node(node).activities.signTransaction(request);
      },
    }),
  });
  const txId = await submit();
  await hasExpired(txId);
  isDown = false;
  await ends(txId, 'CONFIRMED');
  const attempts = (await fixture.attempts(txId)).map(({ kind, signed }) => [kind, signed !== null]);
  expect(attempts[0]).toEqual(['first', false]);
  expect(attempts.at(-1)).toEqual(['reissue', true]);
  await movedOnce();
});
