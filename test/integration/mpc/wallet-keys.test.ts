import { createWalletActivities } from '../../../activities/wallet';
import { bindKeyAgain } from '../../../src/cli/bind-key';
import { type NodeIndex, nodeIndexes } from '../../../src/messages/nodes';
import { mainTaskQueue } from '../../../src/messages/task-queues';
import { bindKeyAgainWorkflowId, fillKeyPoolWorkflowId, generateKeyWorkflowId } from '../../../src/messages/workflow-ids';
import { newId } from '../../../src/platform/ids';
import { WalletEntity } from '../../../src/wallets/entity';
import { keyGenerationOn } from '../../../src/wallets/key-generation';
import { fillKeyPool } from '../../../src/wallets/key-pool';
import { attestedByAll, loadAttestations } from '../../../src/wallets/attestations';
import { recordRun } from '../../replay/record-run';
import { committedKey, readShare } from '../../shares';
import { createScene, type Scene } from '../accounts/scene';

jest.setTimeout(180_000);

const keyPoolSize = 1;

/** Wallets and their keys: Postgres, Temporal, the worker's steps, the authoriser and three nodes are real. */
let scene: Scene;
beforeAll(async () => {
  scene = await createScene({ keyPoolSize, mainActivities: createWalletActivities });
});
afterAll(() => scene.close());
afterEach(() => {
  scene.before.run = () => undefined;
  scene.after.run = () => undefined;
});

const rows = <R extends object>(statement: string, ...values: unknown[]) => scene.fixture.database.query<R[]>(statement, values);
/** As one that was generated, tested and offered before. */
const offered = async (): Promise<string> => {
  const keyId = `pool-${newId()}.1`;
  await scene.group.addKey(keyId, { clientId: null, isBound: false });
  await rows('insert into pooled_keys (key_id) values ($1)', keyId);
  return keyId;
};
const newWallet = async (): Promise<string> => {
  const walletId = newId();
  const { clientId } = scene.fixture.demo;
  const state = { status: 'PROGRESSING', keyStatus: 'GENERATING' } as const;
  await scene.fixture.database.manager.insert(WalletEntity, { walletId, clientId, walletName: 'new', ...state });
  await keyGenerationOn(scene.temporal.client).start({ walletId, clientId });
  return walletId;
};
const ended = (walletId: string) => scene.temporal.client.workflow.getHandle(generateKeyWorkflowId(walletId)).result();
const walletsOf = (keyId: string) =>
  Promise.all(
    nodeIndexes.map(async (node) => {
      const [share] = await scene.group.query<{ wallet_id: string | null; client_id: string | null }>(
        node,
        'select wallet_id, client_id from key_shares where key_id = $1',
        [keyId],
      );
      return share;
    }),
  );
const keyOf = async (walletId: string) =>
  (await rows<{ key_id: string | null; status: string }>('select key_id, status from wallets where wallet_id = $1', walletId))[0];
/** ACTIVE with this key, which each node has bound to the wallet and its client, and attests. */
const expectActive = async (walletId: string, keyId: string) => {
  const { clientId } = scene.fixture.demo;
  expect(await keyOf(walletId)).toEqual({ key_id: keyId, status: 'ACTIVE' });
  expect(await walletsOf(keyId)).toEqual(nodeIndexes.map(() => ({ wallet_id: walletId, client_id: clientId })));
  const stored = await loadAttestations(scene.fixture.database.manager, [walletId]);
  expect(attestedByAll(walletId, stored, scene.attesting)).toMatchObject({ key_id: keyId, client_id: clientId });
};

test('a wallet becomes ACTIVE with a key of the pool, bound and attested by every node', async () => {
  const keyId = await offered();
  const walletId = await newWallet();
  expect(await ended(walletId)).toMatchObject({ keyId });
  await expectActive(walletId, keyId);
  expect(await rows(`select 1 from orders where kind = 'generate_key'`)).toEqual([]);
});

test('a worker and an authoriser that end between taking and binding: the wallet gets the key that it had taken', async () => {
  const [keyId] = [await offered(), await offered()];
  let stopped: Promise<void> | undefined;
  let left: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (left = resolve));
  scene.before.run = (node, activity) => {
    // two nodes have not bound it yet
    if (activity !== 'bindKey' || node !== 2 || stopped) return;
    stopped = scene.stopWorker(mainTaskQueue);
    left();
    throw new Error('the answer is lost');
  };
  const walletId = await newWallet();
  await reached;
  await stopped;
  expect((await walletsOf(keyId)).map((share) => share?.wallet_id)).toEqual([walletId, null, null]);
  expect((await keyOf(walletId))?.key_id).toBeNull();
  await scene.startWorker(mainTaskQueue);
  await ended(walletId);
  await expectActive(walletId, keyId);
  // and no second one
  const taken = await rows<{ key_id: string }>('select key_id from pooled_keys where wallet_id = $1', walletId);
  expect(taken).toEqual([{ key_id: keyId }]);
});

test('two wallets at once and one key: one takes it; for the other, as for one whose key a node has bound elsewhere, a key is generated', async () => {
  // the second key of the test before is left, and one node has it bound to another wallet
  const [left] = await rows<{ key_id: string }>('select key_id from pooled_keys where wallet_id is null');
  await scene.group.bindKey(3, left?.key_id as string, { clientId: scene.fixture.demo.clientId, walletId: newId() });
  const keyId = await offered();
  const wallets = await Promise.all([newWallet(), newWallet()]);
  await Promise.all(wallets.map(ended));
  const taken = await rows<{ wallet_id: string }>('select wallet_id from pooled_keys where key_id = $1', keyId);
  const winner = taken[0]?.wallet_id as string;
  const loser = wallets.find((walletId) => walletId !== winner) as string;
  await expectActive(winner, keyId);
  await expectActive(loser, `${loser}.1`);
});

/** As a backup of this node's database has it that was made before the key was bound. */
async function restoreNode(node: NodeIndex, keyId: string): Promise<void> {
  await scene.group.query(node, 'alter table key_shares disable trigger key_shares_guard');
  await scene.group.query(node, 'delete from key_shares where key_id = $1', [keyId]);
  await scene.group.query(node, 'alter table key_shares enable trigger key_shares_guard');
  const { publicKey, chainCode } = committedKey;
  const store = await scene.group.openStore(node);
  await store.put({ keyId, clientId: null, protocol: 'ecdsa-secp256k1', publicKey, chainCode, share: readShare(node) });
  await store.close();
}

test('a restored gateway offers a key that a wallet has, and a restored node has it unbound: no node binds it to another wallet', async () => {
  const keyId = await offered();
  const first = await newWallet();
  await ended(first);
  await expectActive(first, keyId);
  await restoreNode(1, keyId);
  // the gateway's row of before; neither wallet nor orders of the key
  const { database } = scene.fixture;
  for (const table of ['pooled_keys', 'orders', 'wallets']) await database.query(`alter table ${table} disable trigger user`);
  await rows('update pooled_keys set wallet_id = null, taken_at = null where key_id = $1', keyId);
  await rows(`delete from orders where claims ->> 'key_id' = $1`, keyId);
  await rows('update wallets set key_id = $2 where wallet_id = $1', first, `${first}.lost`);
  for (const table of ['pooled_keys', 'orders', 'wallets']) await database.query(`alter table ${table} enable trigger user`);
  const second = await newWallet();
  await ended(second);
  await expectActive(second, `${second}.1`);
  expect(await rows('select wallet_id from pooled_keys where key_id = $1', keyId)).toEqual([{ wallet_id: second }]);
  expect((await walletsOf(keyId)).map((share) => share?.wallet_id)).toEqual([null, first, first]);
  expect(await rows(`select 1 from orders where kind = 'bind_key' and claims ->> 'key_id' = $1`, keyId)).toEqual([]);
});

test('after the restore of two nodes an operator has the key of a wallet bound to it again, at those that have a share and are up', async () => {
  const keyId = await offered();
  const walletId = await newWallet();
  await ended(walletId);
  for (const node of [1, 2] as const) await restoreNode(node, keyId);
  expect((await walletsOf(keyId)).map((share) => share?.wallet_id)).toEqual([null, null, walletId]);
  const { database } = scene.fixture;
  const { client } = scene.temporal;
  const bind = (id: string) => bindKeyAgain({ database, temporal: client, nodeKeys: scene.attesting }, id);
  scene.before.run = (node) => {
    if (node === 1) throw new Error('down');
  };
  const bound = { state: 'bound', detail: null };
  expect(await bind(walletId)).toEqual([
    { node: 1, state: 'not bound', detail: expect.any(String) },
    ...[2, 3].map((node) => ({ node, ...bound })),
  ]);
  expect((await walletsOf(keyId)).map((share) => share?.wallet_id)).toEqual([null, walletId, walletId]);
  await recordRun(client, bindKeyAgainWorkflowId(walletId), 'bind-key-again');
  scene.before.run = () => undefined;
  expect(await bind(walletId)).toEqual(nodeIndexes.map((node) => ({ node, ...bound })));
  await expectActive(walletId, keyId);
  const acts = await rows(
    `select detail from audit_events where action = 'wallet.key_bound_again' and subject_id = $1`,
    walletId,
  );
  expect(acts).toEqual([{ detail: { key_id: keyId } }, { detail: { key_id: keyId } }]);
  // what is not signed by its node does not count
  const others = new Map(scene.attesting);
  others.set(3, scene.attesting.get(2)!);
  const misled = await bindKeyAgain({ database, temporal: client, nodeKeys: others }, walletId);
  expect(misled.map(({ state }) => state)).toEqual(['bound', 'bound', 'not bound']);
  await expect(bind(newId())).rejects.toMatchObject({ code: 'not_found' });
});

test('the pool is filled up to its size while the nodes are idle, also when the answer of a generation is lost', async () => {
  const { database } = scene.fixture;
  const { client } = scene.temporal;
  let isLost = false;
  scene.after.run = (node, activity) => {
    if (activity !== 'generateKey' || isLost) return;
    isLost = true;
    throw new Error(`the answer of node ${node} is lost`);
  };
  await fillKeyPool(database, client, keyPoolSize);
  await client.workflow.getHandle(fillKeyPoolWorkflowId).result();
  const free = await rows<{ key_id: string }>('select key_id from free_pooled_keys');
  expect(free).toHaveLength(keyPoolSize);
  expect(await walletsOf(free[0]?.key_id as string)).toEqual(nodeIndexes.map(() => ({ wallet_id: null, client_id: null })));
  const run = await client.workflow.getHandle(fillKeyPoolWorkflowId).describe();
  await fillKeyPool(database, client, keyPoolSize);
  expect((await client.workflow.getHandle(fillKeyPoolWorkflowId).describe()).runId).toBe(run.runId);
  const walletId = await newWallet();
  await ended(walletId);
  await expectActive(walletId, free[0]?.key_id as string);
  expect(isLost).toBe(true);
  expect(await rows(`select 1 from orders where kind = 'generate_key' and claims ->> 'key_id' like 'pool-%'`)).toHaveLength(
    keyPoolSize,
  );
});
