import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { migrations } from '../../../migrations/mpc-node';
import { maxBlacklistChanges } from '../../../src/messages/blacklist';
import type { ClaimsOf } from '../../../src/messages/order';
import { hashPage } from '../../../src/platform/page-hash';
import { type NodeIndex, nodeIndexes } from '../../../src/messages/nodes';
import { distributeBlacklistWorkflowId } from '../../../src/messages/workflow-ids';
import { createLogger } from '../../../src/platform/logging';
import { ShareStore } from '../../../src/mpc/store';
import { blacklistChanges, dispatchBlacklists } from '../../../src/screening/distribution';
import { buildClient, buildUser, randomAddress } from '../../factories';
import { createNodeDatabase, type NodeDatabase } from '../mpc/group';
import { claimsOf } from '../../orders';
import { ServedWorkflows, until } from '../transfers/served';
import { listAddress, unlist } from './factors';

jest.setTimeout(120_000);

const served = new ServedWorkflows();
const databases: NodeDatabase[] = [];
const stores = new Map<NodeIndex, ShareStore>();
/** Nodes that do not respond. */
const down = new Set<NodeIndex>();

beforeEach(async () => {
  down.clear();
  for (const node of nodeIndexes) {
    const database = await createNodeDatabase();
    databases.push(database);
    stores.set(node, await ShareStore.open({ url: database.url, node, keks: [randomBytes(32)], migrations }));
  }
  await served.serve({
    node: (node) => ({
      blacklistVersion: async ({ clientId }) => {
        if (down.has(node)) throw ApplicationFailure.create({ type: 'unavailable', message: 'down' });
        return { version: await storeOf(node).blacklist.version(clientId) };
      },
      applyBlacklist: async ({ order, changes }) => {
        if (down.has(node)) throw ApplicationFailure.create({ type: 'unavailable', message: 'down' });
        const { client_id: clientId, after, through, sha256 } = claimsOf<ClaimsOf<'blacklist_page'>>(order);
        expect(hashPage(changes)).toBe(sha256);
        return { version: await storeOf(node).blacklist.apply({ clientId, after, through, changes }) };
      },
    }),
  });
});
afterEach(async () => {
  await Promise.all([...stores.values()].map((store) => store.close()));
  await Promise.all(databases.splice(0).map((database) => database.drop()));
});

const storeOf = (node: NodeIndex) => stores.get(node) as ShareStore;
const dispatch = () => dispatchBlacklists(served.fixture.database, served.client, createLogger('test', 'fatal'));
const has = (node: NodeIndex, clientId: string, address: string) =>
  storeOf(node)
    .database.query<unknown[]>(`select from blacklist where client_id = $1 and chain = 'ethereum' and address_key = $2`, [
      clientId,
      address.toLowerCase(),
    ])
    .then((rows) => rows.length > 0);
const delivered = (node: NodeIndex, clientId: string, address: string, listed = true) =>
  until(`node ${node} has ${listed ? '' : 'not '}${address}`, async () => (await has(node, clientId, address)) === listed);
const finished = async (clientId: string) => served.client.workflow.getHandle(distributeBlacklistWorkflowId(clientId)).result();

test('every change reaches every node’s own copy, and nothing else does', async () => {
  const { database, alice } = served.fixture;
  const [bad, good] = [randomAddress(), randomAddress()];
  const factorId = await listAddress(database, alice, bad);
  await listAddress(database, alice, good, { type: 'WHITELIST' });
  await listAddress(database, alice, good, { status: 'inactive' });
  await dispatch();
  for (const node of nodeIndexes) await delivered(node, alice.clientId, bad);
  await finished(alice.clientId);
  expect(await has(1, alice.clientId, good)).toBe(false);
  await served.record(distributeBlacklistWorkflowId(alice.clientId), 'distribute-blacklist');

  await unlist(database, factorId);
  await dispatch();
  for (const node of nodeIndexes) await delivered(node, alice.clientId, bad, false);
  await listAddress(database, alice, bad);
  await database.query('update security_factors set deleted_at = now() where client_id = $1', [alice.clientId]);
  await listAddress(database, alice, bad);
  await dispatch();
  for (const node of nodeIndexes) await delivered(node, alice.clientId, bad);
});

test('a node that is down gets the changes when it is back; the others do not wait', async () => {
  const { database, alice } = served.fixture;
  const [first, second] = [randomAddress(), randomAddress()];
  down.add(3);
  await listAddress(database, alice, first);
  await dispatch();
  for (const node of [1, 2] as const) await delivered(node, alice.clientId, first);
  await listAddress(database, alice, second);
  await dispatch();
  for (const node of [1, 2] as const) await delivered(node, alice.clientId, second);
  expect(await has(3, alice.clientId, first)).toBe(false);
  down.clear();
  for (const address of [first, second]) await delivered(3, alice.clientId, address);
  await finished(alice.clientId);
});

test('a long list is sent in pages, with only the last change of each address', async () => {
  const { database } = served.fixture;
  const client = await buildClient(database);
  const { userId } = await buildUser(database, client);
  const count = maxBlacklistChanges + 5;
  const add = `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
    select gen_random_uuid(), $1, 'BLACKLIST', 'ethereum', key, key, $2
      from (select '0x' || lpad(to_hex(n), 40, '0') as key from generate_series(1, $3::int) n) keys`;
  await database.query(add, [client.clientId, userId, count]);
  await database.query(`update security_factors set status = 'inactive' where client_id = $1 and address like '%01'`, [
    client.clientId,
  ]);
  const page = await blacklistChanges(database.manager, { clientId: client.clientId, after: 0 });
  expect(page.changes).toHaveLength(maxBlacklistChanges);
  expect(JSON.stringify(page).length).toBeLessThan(256 * 1024);
  await dispatch();
  await finished(client.clientId);
  const key = (n: number) => `0x${n.toString(16).padStart(40, '0')}`;
  for (const node of nodeIndexes) {
    expect(await has(node, client.clientId, key(count))).toBe(true);
    expect(await has(node, client.clientId, key(2))).toBe(true);
    expect(await has(node, client.clientId, key(1))).toBe(false);
  }
  await dispatch();
});

test('a change is dispatched once, and again when the dispatch was not recorded', async () => {
  const { database, alice } = served.fixture;
  await listAddress(database, alice, randomAddress());
  const due = async () => (await database.query<unknown[]>('select 1 from blacklist_versions where dispatched < version')).length;
  expect(await due()).toBe(1);
  await dispatch();
  expect(await due()).toBe(0);
  await finished(alice.clientId);
  await database.query('update blacklist_versions set dispatched = 0');
  await dispatch();
  await finished(alice.clientId);
});

test('several workers: each list is signalled once, and again at once if that fails', async () => {
  const { database, alice } = served.fixture;
  await database.query('update blacklist_versions set dispatched = version, dispatched_at = now()');
  const tenants = [
    alice,
    ...(await Promise.all(
      Array.from({ length: 4 }, async () => {
        const client = await buildClient(database);
        return { clientId: client.clientId, userId: (await buildUser(database, client)).userId };
      }),
    )),
  ];
  for (const tenant of tenants) await listAddress(database, tenant, randomAddress());
  const signalled: string[] = [];
  let failures = 1;
  const workflow = {
    signalWithStart: async (_: string, { workflowId }: { workflowId: string }) => {
      await delay(20);
      if ((failures -= 1) >= 0) throw new Error('away');
      signalled.push(workflowId);
    },
  };
  const connection = { withDeadline: (_: number, work: () => Promise<unknown>) => work() };
  const temporal = { workflow, connection } as unknown as Client;
  const worker = () => dispatchBlacklists(database, temporal, createLogger('test', 'fatal'));
  await Promise.all([worker(), worker(), worker()]);
  await worker();
  expect(signalled.sort()).toEqual(tenants.map(({ clientId }) => distributeBlacklistWorkflowId(clientId)).sort());
});

test('a list is compared again after an hour: a node whose database was lost or restored gets it again', async () => {
  const { database, alice } = served.fixture;
  const bad = randomAddress();
  await listAddress(database, alice, bad);
  await dispatch();
  await finished(alice.clientId);
  const lost = await createNodeDatabase();
  databases.push(lost);
  await storeOf(2).close();
  stores.set(2, await ShareStore.open({ url: lost.url, node: 2, keks: [randomBytes(32)], migrations }));
  await dispatch();
  expect(await has(2, alice.clientId, bad)).toBe(false);
  await database.query(`update blacklist_versions set dispatched_at = dispatched_at - interval '61 minutes'`);
  await dispatch();
  await delivered(2, alice.clientId, bad);
  await finished(alice.clientId);
});
