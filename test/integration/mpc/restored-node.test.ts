import type { GroupKey } from '../../../src/messages/key-generation';
import type { NodeIndex } from '../../../src/messages/nodes';
import { createLogger } from '../../../src/platform/logging';
import { Group, localRegistry } from './group';
import { type OrderedTransfer, orderedTransfer } from './transactions';

jest.setTimeout(120_000);

const node = 2;
const accountId = '0190b5a4-0000-7000-8000-0000000000a7';

/**
 * Node 2 is set up anew from a copy of its database: its machine is lost, so it has neither its journal mark nor its identity of before. What
 * docs/deployment.md says about the keys of before and since.
 */
describe('a node that is restored from a backup, with a new identity', () => {
  let group: Group;
  let before: GroupKey;
  let since: GroupKey;
  let ofAccount: GroupKey;
  let pooled: GroupKey;
  let lost: OrderedTransfer;
  let nonce = 0;
  const alarms: Record<string, unknown>[] = [];
  const logger = createLogger(`mpc-node-${node}`, 'error', {
    write: (line: string) => void alarms.push(JSON.parse(line) as Record<string, unknown>),
  });
  const build = (key: GroupKey, of: number = (nonce += 1)) => orderedTransfer(key, localRegistry, { symbol: 'USDC', nonce: of });
  const isComplete = async () => {
    for (let tries = 0; !group.node(node).journalIsComplete() && tries < 300; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect(group.node(node).journalIsComplete()).toBe(true);
  };

  beforeAll(async () => {
    group = await Group.create();
    before = await group.addKey('wallet.before');
    pooled = await group.addKey('pool-before.1', { clientId: null, isBound: false });
    await group.sign(build(before), 1, node);
    await group.stop(node);
    await group.databases[node].backUp();
    await group.start(node);
    await isComplete();

    since = await group.addKey('wallet.since');
    ofAccount = await group.generateKey(1, `${accountId}.1`, { protocol: 'frost-ed25519', accountId });
    for (const party of [1, 2, 3] as const) await group.bindKey(party, pooled.keyId);
    lost = build(before);
    await group.sign(lost, 1, node);
    await group.sign(build(since), node, 3);

    const former = group.files.nodes[node].cert;
    const identity = await group.files.another(`mpc-node-${node}`);
    for (const party of [1, 2, 3] as const) {
      await group.stop(party);
      const { peerCerts } = group.files.nodes[party];
      Object.assign(group.files.nodes[party], { peerCerts: peerCerts.replace(former, identity.cert), formerCerts: former });
    }
    Object.assign(group.files.nodes[node], identity);
    await group.databases[node].restore();
    group.removeMark(node);
    for (const party of [1, 2, 3] as const) await group.start(party, party === node ? { logger } : {});
  });
  afterAll(() => group.close());

  const refusedBy = async (key: GroupKey, reason: string) => {
    for (const [initiator, peer] of [
      [1, node],
      [node, 3],
    ] as const)
      await expect(group.sign(build(key), initiator, peer)).rejects.toMatchObject({
        code: 'signers_unavailable',
        message: expect.stringContaining(reason) as string,
      });
  };
  const missing = () => alarms.filter(({ alert }) => alert === 'share_missing').map(({ key_id: keyId }) => keyId);

  test('takes back what it has signed since, by its former certificate, and raises the alarm meanwhile', async () => {
    await isComplete();
    expect(alarms).toContainEqual(expect.objectContaining({ alert: 'journal_behind' }));
    const outcomes = await group.query(node, 'select outcome from journal where tx_id = $1', [lost.claims.tx_id]);
    expect(outcomes).toEqual([{ outcome: 'recovered' }]);
    // and signs no other bytes for it
    const other = build(before);
    Object.assign(other.claims, { tx_id: lost.claims.tx_id });
    await expect(group.sign(other, node, 3)).rejects.toMatchObject({ code: 'intent_mismatch' });
    await group.sign(lost, 1, node);
  });

  test('signs by a key that it had then, with either peer', async () => {
    for (const [initiator, peer] of [
      [1, node],
      [node, 3],
    ] as [NodeIndex, NodeIndex][])
      await group.sign(build(before), initiator, peer);
    expect(missing()).not.toContain(before.keyId);
  });

  test('has no share of a key made since: it says so, raises one alarm, and the others sign', async () => {
    await refusedBy(since, `node ${node} has no share of this key`);
    await group.sign(build(since), 1, 3);
    for (const { keyId } of [since, ofAccount])
      await expect(group.node(node).activities.confirmKey({ keyId })).rejects.toMatchObject({
        code: 'not_found',
        message: `node ${node} has no share of key ${keyId}`,
      });
    await expect(group.bindKey(node, since.keyId)).rejects.toMatchObject({ code: 'not_found' });
    expect(missing().filter((keyId) => keyId === since.keyId)).toHaveLength(1);
  });

  test('has a key of the pool that was bound since unbound: it signs with it once it has bound it again', async () => {
    await refusedBy(pooled, 'has not bound the key to a wallet');
    expect(missing().filter((keyId) => keyId === pooled.keyId)).toHaveLength(1);
    await group.bindKey(node, pooled.keyId);
    await group.sign(build(pooled), 1, node);
  });
});
