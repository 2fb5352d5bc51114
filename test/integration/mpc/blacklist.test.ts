import { type BlacklistChanges, maxBlacklistChanges } from '../../../src/messages/blacklist';
import type { GroupKey } from '../../../src/messages/key-generation';
import type { NodeIndex } from '../../../src/messages/nodes';
import { hashPage } from '../../../src/platform/page-hash';
import { forgeOrder, orderHead, signOrder } from '../../orders';
import { Group, localRegistry } from './group';
import { client, orderedTransfer, type OrderedTransfer, payTo, recipient, stranger, toRequest } from './transactions';
import { newKeyPair } from '../../keys';

const other = '0190b5a4-0000-7000-8000-00000000000d';
const keyOf = (address: string) => address.toLowerCase();
const changes = (after: number, through: number, addresses: [string, boolean][], clientId = client): BlacklistChanges => ({
  clientId,
  after,
  through,
  changes: addresses.map(([address, listed]) => ({ chain: 'ethereum', addressKey: keyOf(address), listed })),
});

describe('a node’s own blacklist', () => {
  let group: Group;
  let key: GroupKey;

  beforeAll(async () => {
    group = await Group.create();
    key = await group.addKey('wallet.1');
  }, 120_000);
  afterAll(() => group.close());

  const orderPage = ({ clientId, after, through, changes: page }: BlacklistChanges) =>
    signOrder({ ...orderHead(), kind: 'blacklist_page', client_id: clientId, after, through, sha256: hashPage(page) });
  const apply = async (node: NodeIndex, page: BlacklistChanges) =>
    group.node(node).activities.applyBlacklist({ order: await orderPage(page), changes: page.changes });
  const listed = () => group.query(1, 'select client_id, chain, address_key from blacklist');
  const versionOf = async (node: NodeIndex, clientId = client) =>
    (await group.node(node).activities.blacklistVersion({ clientId })).version;
  const sign = (initiator: NodeIndex, peer: NodeIndex, change: (ordered: OrderedTransfer) => void = () => undefined) => {
    const ordered = orderedTransfer(key, localRegistry, { symbol: 'USDC' });
    change(ordered);
    return toRequest(ordered, peer).then((request) => group.node(initiator).activities.signTransaction(request));
  };

  test('applies changes that follow on its version; older, newer and repeated ones have no effect', async () => {
    expect(await versionOf(1)).toBe(0);
    expect(await apply(1, changes(0, 2, [[stranger, true]]))).toEqual({ version: 2 });
    for (const page of [
      changes(0, 2, [[stranger, false]]),
      changes(0, 9, [[stranger, false]]),
      changes(3, 9, [[stranger, false]]),
    ]) {
      expect(await apply(1, page)).toEqual({ version: 2 });
    }
    expect(await listed()).toEqual([{ client_id: client, chain: 'ethereum', address_key: keyOf(stranger) }]);
    expect(await apply(1, changes(2, 4, [[stranger, false]]))).toEqual({ version: 4 });
    expect(await listed()).toEqual([]);
  });

  test('applies one of two concurrent pages', async () => {
    const pages = [changes(0, 1, [[stranger, true]], other), changes(0, 2, [[recipient, true]], other)];
    const versions = await Promise.all(pages.map((page) => apply(3, page)));
    expect(new Set(versions.map(({ version }) => version)).size).toBe(1);
    expect(await versionOf(3, other)).toBe(versions[0]?.version);
    expect(await versionOf(3)).toBe(0);
  });

  test('applies a full page; refuses a larger or malformed one', async () => {
    const many = (count: number) =>
      changes(
        0,
        count,
        Array.from({ length: count }, (_, n) => [`0x${n.toString(16).padStart(40, '0')}`, true] as [string, boolean]),
        `0190b5a4-0000-7000-8000-${String(count).padStart(12, '0')}`,
      );
    expect(await apply(2, many(maxBlacklistChanges))).toEqual({ version: maxBlacklistChanges });
    await expect(apply(2, many(maxBlacklistChanges + 1))).rejects.toMatchObject({ code: 'invalid_parameter' });
    const page = many(1);
    const more = { order: await orderPage(page), changes: page.changes, more: 1 };
    await expect(group.node(2).activities.applyBlacklist(more)).rejects.toMatchObject({ code: 'invalid_parameter' });
  });

  test('whatever the list of the client says, an order takes addresses off, and with a high version keeps later changes away', async () => {
    const clientId = '0190b5a4-0000-7000-8000-00000000000e';
    const version = Number.MAX_SAFE_INTEGER;
    await apply(1, changes(0, 1, [[stranger, true]], clientId));
    expect(await apply(1, changes(1, version, [[stranger, false]], clientId))).toEqual({ version });
    expect(await apply(1, changes(1, 2, [[stranger, true]], clientId))).toEqual({ version });
    expect(await group.query(1, 'select from blacklist where client_id = $1', [clientId])).toEqual([]);
  });

  test('a page without an order of its own is refused', async () => {
    const { changes: page } = changes(0, 1, [[stranger, true]], other);
    const { changes: removed } = changes(0, 1, [[stranger, false]], other);
    const order = await orderPage({ clientId: other, after: 0, through: 1, changes: page });
    const attacker = newKeyPair('ed25519').privateKey;
    const forged = { ...orderHead(), kind: 'blacklist_page', client_id: other, after: 0, through: 1, sha256: hashPage(removed) };
    for (const [field, made] of Object.entries({ sha256: order, signature: await forgeOrder(forged, { key: attacker }) }))
      await expect(group.node(2).activities.applyBlacklist({ order: made, changes: removed })).rejects.toMatchObject({
        code: 'order_refused',
        message: expect.stringContaining(`${field}: `),
      });
    expect(await versionOf(2, other)).toBe(0);
  });

  describe('with the recipient on the list of the key’s client at node 2 alone', () => {
    beforeAll(async () => {
      await apply(2, changes(0, 1, [[recipient, true]]));
    });

    test('node 2 refuses as initiator and as peer, in any spelling of the address; the others sign', async () => {
      await expect(sign(2, 3)).rejects.toMatchObject({ code: 'address_blacklisted' });
      await expect(sign(1, 2)).rejects.toMatchObject({ code: 'address_blacklisted', message: expect.stringContaining('node 2') });
      const lower = (ordered: OrderedTransfer) => payTo(ordered, recipient.toLowerCase());
      await expect(sign(2, 3, lower)).rejects.toMatchObject({ code: 'address_blacklisted' });
      expect((await sign(1, 3)).signatures).toHaveLength(1);
    });

    test('the list is kept over a restart', async () => {
      await group.stop(2);
      await group.start(2);
      await expect(sign(2, 3)).rejects.toMatchObject({ code: 'address_blacklisted' });
      await apply(2, changes(1, 2, [[recipient, false]]));
      expect((await sign(2, 3)).signatures).toHaveLength(1);
    });
  });
});
