import type { GroupKey } from '../../../src/messages/key-generation';
import { nodeIndexes } from '../../../src/messages/nodes';
import { waitFor } from '../../stack/client';
import { Group, localRegistry, wallet } from './group';
import { orderedTransfer, toRequest } from './transactions';

// three keys are generated in one test, each some 6 s of computing on an idle machine
jest.setTimeout(180_000);

/** Keys that are generated before a wallet wants one, at the real nodes. */
let group: Group;
beforeAll(async () => {
  group = await Group.create();
});
afterAll(() => group.close());

const otherWallet = '0190b5a4-0000-7000-8000-0000000000f2';
const otherClient = '0190b5a4-0000-7000-8000-00000000000d';
const pooled = (keyId: string): Promise<GroupKey> => group.addKey(keyId, { clientId: null, isBound: false });
const generatePooled = (keyId: string) => group.generateKey(1, keyId, { clientId: null, isBound: false });

test('a key of the pool signs no transaction before it is bound, and then for its client alone', async () => {
  const key = await pooled('pool-signs.1');
  const request = await toRequest(orderedTransfer(key, localRegistry, { symbol: 'USDC' }), 2);
  const unbound = { code: 'signers_unavailable', message: expect.stringContaining('has not bound the key') };
  await expect(group.node(1).activities.signTransaction(request)).rejects.toMatchObject(unbound);
  await group.bindKey(1, key.keyId);
  // the peer has not bound it
  await expect(group.node(1).activities.signTransaction(request)).rejects.toMatchObject(unbound);
  await group.bindKey(2, key.keyId);
  expect((await group.node(1).activities.signTransaction(request)).signatures).toHaveLength(1);
  const others = orderedTransfer(key, localRegistry, { symbol: 'USDC', nonce: 8 });
  others.claims.client_id = otherClient;
  await expect(group.node(1).activities.signTransaction(await toRequest(others, 2))).rejects.toMatchObject({
    code: 'intent_mismatch',
    message: expect.stringContaining('client_id: '),
  });
  await group.bindKey(3, key.keyId);
});

test('no node binds it to a second wallet or client, whatever is ordered, and its database refuses to change or remove it', async () => {
  const { keyId } = await pooled('pool-bound.1');
  for (const node of nodeIndexes) {
    // two orders at once: one wallet gets it
    const both = await Promise.allSettled([group.bindKey(node, keyId), group.bindKey(node, keyId, { walletId: otherWallet })]);
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const [bound] = await group.query<{ wallet_id: string }>(node, 'select wallet_id from key_shares where key_id = $1', [keyId]);
    const second = bound?.wallet_id === wallet ? otherWallet : wallet;
    for (const owner of [{ walletId: second }, { walletId: bound?.wallet_id ?? '', clientId: otherClient }])
      await expect(group.bindKey(node, keyId, owner)).rejects.toMatchObject({ code: 'business_error' });
    for (const statement of [
      'update key_shares set wallet_id = gen_random_uuid() where key_id = $1',
      'update key_shares set client_id = null, wallet_id = null where key_id = $1',
      `update key_shares set key_id = 'pool-other.1' where key_id = $1`,
      'delete from key_shares where key_id = $1',
    ])
      await expect(group.query(node, statement, [keyId])).rejects.toMatchObject({ code: '23000' });
    await expect(group.query(node, 'truncate key_shares')).rejects.toMatchObject({ code: '23000' });
  }
});

test('what a node says about a key tells whose it is', async () => {
  const { keyId } = await pooled('pool-told.1');
  const told = async () => (await group.node(2).activities.confirmKey({ keyId })).walletId;
  expect(await told()).toBeNull();
  await group.bindKey(2, keyId);
  expect(await told()).toBe(wallet);
});

const idle = () => new Promise((resolve) => setTimeout(resolve, 2_100));

test('a node takes a bounded number of them in seven days, whoever orders more; other keys are not limited by this', async () => {
  const fill = `insert into key_shares (key_id, protocol, public_key, chain_code, ciphertext, iv, tag, kek_fingerprint)
    select 'pool-lost.' || n, protocol, public_key, chain_code, ciphertext, iv, tag, kek_fingerprint
      from key_shares, generate_series(1, 256 - (select count(*) from key_shares where client_id is null)) n where key_id = 'pool-told.1'`;
  await group.query(3, fill);
  await idle();
  await expect(generatePooled('pool-more.1')).rejects.toMatchObject({
    code: 'order_refused',
    message: expect.stringContaining('256 keys of no client'),
  });
  await group.generateKey(1, 'wallet.not-pooled', { isBound: false });
  const age = (days: string) =>
    group.query(3, `update key_shares set created_at = created_at - $1::interval where key_id = 'pool-lost.1'`, [days]);
  await age('6 days');
  await idle();
  await expect(generatePooled('pool-more.1')).rejects.toMatchObject({ code: 'order_refused' });
  await age('1 day');
  await idle();
  await expect(generatePooled('pool-more.1')).resolves.toMatchObject({ keyId: 'pool-more.1' });
});

test('no key is generated for the pool while another is generated, or when a participant has just signed', async () => {
  const key = await group.addKey('wallet.signs');
  for (const [initiator, peer] of [
    [1, 2],
    // not the initiator, but a participant
    [2, 3],
  ] as const) {
    await idle();
    await group.sign(orderedTransfer(key, localRegistry, { symbol: 'USDC', nonce: 20 + initiator }), initiator, peer);
    await expect(generatePooled('pool-busy.1')).rejects.toMatchObject({
      code: 'signers_unavailable',
      message: expect.stringContaining(initiator === 1 ? 'node 1 is busy' : 'node 2 is busy'),
    });
  }
  const generation = group.generateKey(1, 'wallet.goes-first', { isBound: false });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await expect(generatePooled('pool-busy.1')).rejects.toMatchObject({ code: 'signers_unavailable' });
  await generation;
  expect(await group.query(1, `select 1 from key_shares where key_id = 'pool-busy.1'`)).toEqual([]);
  const [refused] = await group.query<{ count: string }>(
    1,
    `select count(*) from refused_requests where reason like '%is busy%'`,
  );
  expect(refused?.count).toBe('0');
});

test('a node binds no key while its journal is not complete, and the same one afterwards', async () => {
  const { keyId } = await pooled('pool-behind.1');
  await group.stop(2);
  group.removeMark(2);
  // without it node 2 cannot take everything back
  await group.stop(3);
  await group.start(2);
  const seen = () => group.query(2, 'select count(*) from seen_orders');
  const before = await seen();
  await expect(group.bindKey(2, keyId)).rejects.toMatchObject({ code: 'journal_behind' });
  expect((await group.node(2).activities.confirmKey({ keyId })).walletId).toBeNull();
  expect(await seen()).toEqual(before);
  await group.start(3);
  await waitFor(() => Promise.resolve(group.node(2).journalIsComplete()), { timeoutMs: 30_000 });
  await group.bindKey(2, keyId);
  expect((await group.node(2).activities.confirmKey({ keyId })).walletId).toBe(wallet);
});
