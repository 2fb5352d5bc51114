import { randomBytes } from 'node:crypto';
import type { GroupKey, KeyAttestation } from '../../../src/messages/key-generation';
import { nodeIndexes } from '../../../src/messages/nodes';
import { Identity, readNodeKeys } from '../../../src/mpc/identity';
import { readAnswer } from '../../../src/mpc/journal-answer';
import { verifyAttestation } from '../../../src/mpc/key-attestation';
import { verifyStatements } from '../../../src/mpc/verify-journal';
import { DishonestEngine } from './engines';
import { Group, localRegistry } from './group';
import { type OrderedTransfer, orderedTransfer } from './transactions';

/** Node 1 gets another key and certificate: docs/keys.md, `Replacing the identity of a node`. */
describe('after a node got another identity', () => {
  let group: Group;
  let key: GroupKey;
  let attested: KeyAttestation[];
  let old: OrderedTransfer;
  let former: string;
  let nonce = 0;
  const dishonest = new DishonestEngine();
  const build = () => orderedTransfer(key, localRegistry, { symbol: 'USDC', nonce: (nonce += 1) });

  beforeAll(async () => {
    group = await Group.create({ 3: { engine: dishonest } });
    key = await group.addKey('wallet.1');
    attested = await Promise.all(nodeIndexes.map((node) => group.bindKey(node, key.keyId)));
    old = build();
    await group.sign(old, 1, 2);
    dishonest.flipInRound = 1;
    await expect(group.sign(build(), 1, 3)).rejects.toThrow();

    former = group.files.nodes[1].cert;
    const identity = await group.files.another('mpc-node-1');
    for (const node of nodeIndexes) {
      await group.stop(node);
      const { peerCerts } = group.files.nodes[node];
      Object.assign(group.files.nodes[node], { peerCerts: peerCerts.replace(former, identity.cert), formerCerts: former });
    }
    Object.assign(group.files.nodes[1], identity);
    for (const node of nodeIndexes) await group.start(node);
  }, 120_000);
  afterAll(() => group.close());

  const keys = () => readNodeKeys(group.files.nodes[1].peerCerts, former);
  const presentKeys = () => readNodeKeys(group.files.nodes[1].peerCerts);
  const until = async (what: () => boolean) => {
    for (let tries = 0; !what() && tries < 150; tries += 1) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(what()).toBe(true);
  };

  test('it signs with its peers, and what it attested before is verified by its former certificate only', async () => {
    await group.sign(build(), 1, 2);
    await group.sign(build(), 2, 1);
    expect(attested.map((it) => verifyAttestation(it, keys())?.node)).toEqual([1, 2, 3]);
    expect(attested.map((it) => verifyAttestation(it, presentKeys())?.node)).toEqual([undefined, 2, 3]);
    // asked again, it attests with its present key
    expect(verifyAttestation(await group.bindKey(1, key.keyId), presentKeys())).toMatchObject({ node: 1, key_id: key.keyId });
  });

  test('its answer about an earlier transaction is verified, and no answer by its former key', async () => {
    const request = { txId: old.claims.tx_id, nonce: randomBytes(16).toString('hex') };
    const answer = await group.node(1).activities.readJournal(request);
    expect(readAnswer(answer, 1, request, keys()).entries).toMatchObject([{ outcome: 'signed' }]);
    expect(() => readAnswer(answer, 1, request, presentKeys())).toThrow(/signature of an entry/);
    const [present, ...others] = keys().get(1)!;
    const swapped = new Map([...keys(), [1, [others[0]!, present]] as const]);
    expect(() => readAnswer(answer, 1, request, swapped)).toThrow(/its signature does not verify/);
  });

  test('its journal and bans, and the copies that its peers keep, verify', async () => {
    for (const node of nodeIndexes) {
      const identity = new Identity(group.files.nodes[node]);
      const store = await group.openStore(node);
      try {
        const found = [];
        for await (const it of verifyStatements(store.database, node, identity.getKeys.bind(identity))) found.push(it);
        expect(found).toEqual([]);
      } finally {
        await store.close();
      }
    }
  });

  test('restored from a backup, it takes back the entries and the ban that it signed with its former key', async () => {
    await until(() => group.node(1).journalIsComplete());
    await group.stop(1);
    await group.query(
      1,
      'alter table journal disable trigger all; delete from journal; delete from bans; alter table journal enable trigger all',
    );
    await group.start(1);
    await until(() => group.node(1).journalIsComplete());
    expect(await group.query(1, 'select outcome from journal where tx_id = $1', [old.claims.tx_id])).toEqual([
      { outcome: 'recovered' },
    ]);
    expect(await group.query(1, 'select key_id, peer from bans')).toEqual([{ key_id: key.keyId, peer: 3 }]);
    await expect(group.sign(build(), 1, 3)).rejects.toMatchObject({ code: 'key_peer_banned' });
    await group.sign(build(), 1, 2);
  });
});
