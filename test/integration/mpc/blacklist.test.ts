import { type BlacklistChanges, maxBlacklistChanges } from '../../../src/messages/blacklist';
import type { GroupKey } from '../../../src/messages/key-generation';
import type { NodeIndex } from '../../../src/messages/nodes';
import type { ShareStore } from '../../../src/mpc/store';
import { Group, localRegistry } from './group';
import { payTo, recipient, stranger, transferRequest } from './transactions';

const client = '0190b5a4-0000-7000-8000-00000000000c';
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
  let store: ShareStore;

  beforeAll(async () => {
    group = await Group.create();
    key = await group.node(1).activities.generateKey({ keyId: 'wallet.1', clientId: client });
    store = await group.openStore(1);
  }, 120_000);
  afterAll(async () => {
    await store.close();
    await group.close();
  });

  const apply = (node: NodeIndex, page: BlacklistChanges) => group.node(node).activities.applyBlacklist(page);
  const versionOf = async (node: NodeIndex) => (await apply(node, changes(0, 0, []))).version;
  const sign = (
    initiator: NodeIndex,
    peer: NodeIndex,
    change: (request: ReturnType<typeof transferRequest>) => void = () => undefined,
  ) => {
    const request = transferRequest(key, localRegistry, { symbol: 'USDC' });
    change(request);
    return group.node(initiator).activities.signTransaction({ ...request, peer });
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
    expect(await store.blacklist.has(client, 'ethereum', keyOf(stranger))).toBe(true);
    expect(await store.blacklist.has(client, 'base', keyOf(stranger))).toBe(false);
    expect(await store.blacklist.has(other, 'ethereum', keyOf(stranger))).toBe(false);
    expect(await apply(1, changes(2, 4, [[stranger, false]]))).toEqual({ version: 4 });
    expect(await store.blacklist.has(client, 'ethereum', keyOf(stranger))).toBe(false);
  });

  test('applies one of two concurrent pages', async () => {
    const pages = [changes(0, 1, [[stranger, true]], other), changes(0, 2, [[recipient, true]], other)];
    const versions = await Promise.all(pages.map((page) => apply(3, page)));
    expect(new Set(versions.map(({ version }) => version)).size).toBe(1);
    expect(await versionOf(3)).toBe(0);
  });

  test('applies a full page; refuses a larger or malformed one', async () => {
    const many = (count: number) =>
      changes(
        0,
        count,
        Array.from({ length: count }, (_, n) => [`0x${n.toString(16).padStart(40, '0')}`, true] as [string, boolean]),
        `many-${count}`,
      );
    expect(await apply(2, many(maxBlacklistChanges))).toEqual({ version: maxBlacklistChanges });
    for (const page of [many(maxBlacklistChanges + 1), { ...many(1), after: -1 }, { ...many(1), more: 1 }]) {
      await expect(apply(2, page)).rejects.toMatchObject({ code: 'invalid_parameter' });
    }
  });

  describe('with the recipient on the list of the key’s client at node 2 alone', () => {
    beforeAll(async () => {
      await apply(2, changes(0, 1, [[recipient, true]]));
    });

    test('node 2 refuses as initiator and as peer, in any spelling of the address; the others sign', async () => {
      await expect(sign(2, 3)).rejects.toMatchObject({ code: 'address_blacklisted' });
      await expect(sign(1, 2)).rejects.toMatchObject({ code: 'address_blacklisted', message: expect.stringContaining('node 2') });
      const lower = (request: ReturnType<typeof transferRequest>) => payTo(request, recipient.toLowerCase());
      await expect(sign(2, 3, lower)).rejects.toMatchObject({ code: 'address_blacklisted' });
      expect((await sign(1, 3)).signatures).toHaveLength(1);
    });

    test('the key’s client counts, whatever the intent says; for a key without one the intent’s', async () => {
      const claim = (clientId: string) => (request: ReturnType<typeof transferRequest>) => (request.intent.clientId = clientId);
      await expect(sign(2, 3, claim(other))).rejects.toMatchObject({ code: 'address_blacklisted' });
      const nameless = await group.openStore(2);
      await Reflect.get(nameless, 'database').query(`update key_shares set client_id = null where key_id = $1`, [key.keyId]);
      expect((await sign(2, 3, claim(other))).signatures).toHaveLength(1);
      expect((await sign(2, 3)).signatures).toHaveLength(1);
      await expect(sign(2, 3, claim(client))).rejects.toMatchObject({ code: 'address_blacklisted' });
      await Reflect.get(nameless, 'database').query(`update key_shares set client_id = $2 where key_id = $1`, [
        key.keyId,
        client,
      ]);
      await nameless.close();
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
