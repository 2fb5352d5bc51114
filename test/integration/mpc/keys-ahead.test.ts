import type { GroupKey } from '../../../src/messages/key-generation';
import { nodeIndexes } from '../../../src/messages/nodes';
import { committedKey, readShare } from '../../shares';
import { Group, localRegistry, maxKeysAhead, wallet } from './group';
import { client, orderedTransfer, toRequest } from './transactions';

jest.setTimeout(60_000);

/** Keys that are generated before a wallet wants one, at the real nodes. */
let group: Group;
beforeAll(async () => {
  group = await Group.create();
});
afterAll(() => group.close());

const otherWallet = '0190b5a4-0000-7000-8000-0000000000f2';
const otherClient = '0190b5a4-0000-7000-8000-00000000000d';
const ahead = (keyId: string): Promise<GroupKey> => group.addKey(keyId, { clientId: null, isBound: false });
const generateAhead = (keyId: string) => group.generateKey(1, keyId, { clientId: null, isBound: false });
const full = { code: 'order_refused', message: expect.stringContaining(`keeps ${maxKeysAhead} keys of no client`) };

test('a key that was generated ahead signs no transaction before it is bound, and then for its client alone', async () => {
  const key = await ahead('ahead-signs.1');
  const request = await toRequest(orderedTransfer(key, localRegistry, { symbol: 'USDC' }), 2);
  const unbound = { code: 'intent_mismatch', message: expect.stringContaining('signers: ') };
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

test('no node binds it to a second wallet or client, whatever is ordered, and its database lets nobody change or remove it', async () => {
  const { keyId } = await ahead('ahead-bound.1');
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
      `update key_shares set key_id = 'ahead-other.1' where key_id = $1`,
      'delete from key_shares where key_id = $1',
    ])
      await expect(group.query(node, statement, [keyId])).rejects.toMatchObject({ code: '23000' });
  }
});

test('a node keeps a bounded number of them, whoever orders more; one that is bound makes room', async () => {
  const keys = Array.from({ length: maxKeysAhead }, (_, at) => `ahead-kept-${at}.1`);
  for (const keyId of keys) await ahead(keyId);
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  await expect(generateAhead('ahead-more.1')).rejects.toMatchObject(full);
  // two generations that were admitted at once: the store has the last word
  const store = await group.openStore(1);
  const { publicKey, chainCode } = committedKey;
  const put = (keyId: string) =>
    store.put({ keyId, clientId: null, protocol: 'ecdsa-secp256k1', publicKey, chainCode, share: readShare(1) });
  await expect(put('ahead-more.1')).rejects.toMatchObject(full);
  await group.bindKey(1, keys[0] as string);
  const results = await Promise.allSettled([put('ahead-more.1'), put('ahead-more.2')]);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  // other keys are not limited by this
  await group.addKey('wallet.not-ahead', { isBound: false, clientId: client });
  await store.close();
  const kept = await group.query<{ key_id: string }>(1, 'select key_id from key_shares where client_id is null');
  expect(kept).toHaveLength(maxKeysAhead);
  for (const { key_id: keyId } of kept) await group.bindKey(1, keyId);
});

test('no key is generated ahead while a node signs, or has just signed', async () => {
  const key = await group.addKey('wallet.signs');
  for (const [initiator, peer] of [
    [1, 2],
    // not the initiator, but a participant
    [2, 3],
  ] as const) {
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    await group.sign(orderedTransfer(key, localRegistry, { symbol: 'USDC', nonce: 20 + initiator }), initiator, peer);
    await expect(generateAhead('ahead-busy.1')).rejects.toMatchObject({
      code: 'signers_unavailable',
      message: expect.stringContaining(initiator === 1 ? 'node 1 signs' : 'node 2 signs'),
    });
  }
  expect(await group.query(1, `select 1 from key_shares where key_id = 'ahead-busy.1'`)).toEqual([]);
  const [refused] = await group.query<{ count: string }>(1, `select count(*) from refused_requests where reason like '%signs%'`);
  expect(refused?.count).toBe('0');
});
