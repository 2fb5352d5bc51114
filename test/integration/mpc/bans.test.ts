import type { GroupKey } from '../../../src/messages/key-generation';
import type { NodeIndex } from '../../../src/messages/nodes';
import { MpcOperations } from '../../../src/cli/mpc-operations';
import { maxFailedSessions } from '../../../src/mpc/journal';
import { DishonestEngine } from './engines';
import { Group, localRegistry } from './group';
import { asAttempt, orderedTransfer, type OrderedTransfer, ordersAgain } from './transactions';

describe('bans', () => {
  let group: Group;
  /** One key for every test that bans. */
  const keys: GroupKey[] = [];
  let dishonest = new DishonestEngine();
  let nonce = 0;

  beforeAll(async () => {
    group = await Group.create({ 3: { engine: dishonest } });
    for (let index = 0; index < 2; index += 1) keys.push(await group.addKey(`wallet.${index}`));
  }, 300_000);
  afterAll(() => group.close());
  afterEach(() => {
    dishonest.flipInRound = 0;
    dishonest.abortsAtOnce = false;
  });

  const keyAt = (index: number): GroupKey => keys[index]!;
  const build = (key: GroupKey): OrderedTransfer => orderedTransfer(key, localRegistry, { symbol: 'USDC', nonce: (nonce += 1) });
  const sign = (request: OrderedTransfer, initiator: NodeIndex, peer: NodeIndex) => group.sign(request, initiator, peer);
  const cheat = async (key: GroupKey, initiator: NodeIndex, peer: NodeIndex, round = 1) => {
    dishonest.flipInRound = round;
    await expect(sign(build(key), initiator, peer)).rejects.toMatchObject({ code: 'signers_unavailable' });
    dishonest.flipInRound = 0;
  };
  const bans = (node: NodeIndex, key: GroupKey) =>
    group.query<{ peer: number }>(node, 'select peer from bans where key_id = $1 order by peer', [key.keyId]);
  const until = async (what: () => Promise<boolean>) => {
    for (let tries = 0; !(await what()) && tries < 100; tries += 1) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await what()).toBe(true);
  };

  test('a peer that is down, or leaves before it has sent anything, is not counted', async () => {
    const key = keyAt(1);
    await group.stop(3);
    await expect(sign(build(key), 1, 3)).rejects.toMatchObject({ code: 'signers_unavailable' });
    await group.start(3, { engine: (dishonest = new DishonestEngine()) });
    const failed = await group.query(1, `select from journal where key_id = $1 and outcome = 'failed'`, [key.keyId]);
    expect(failed).toEqual([]);
  });

  test('a node that changes bits of its messages is banned by its peer, also after a restart; the other pair signs', async () => {
    const key = keyAt(0);
    await cheat(key, 1, 3);
    expect(await bans(1, key)).toEqual([{ peer: 3 }]);
    const refused = { code: 'key_peer_banned' };
    await expect(sign(build(key), 1, 3)).rejects.toMatchObject(refused);
    await expect(sign(build(key), 3, 1)).rejects.toMatchObject(refused);
    await expect(group.testSign(3, 1, key.keyId)).rejects.toMatchObject(refused);
    await sign(build(key), 1, 2);
    await sign(build(key), 2, 3);
    // another key is not concerned
    await sign(build(keyAt(1)), 3, 1);

    await group.stop(1);
    await group.start(1);
    await expect(sign(build(key), 1, 3)).rejects.toMatchObject(refused);
    await sign(build(key), 1, 2);
  });

  test('a changed message of the second round is banned too', async () => {
    await cheat(keyAt(0), 2, 3, 2);
    expect(await bans(2, keyAt(0))).toEqual([{ peer: 3 }]);
  });

  test.each([1, 2])(
    'a node that aborts directly after a changed message of round %i, before it is processed, is banned for it',
    async (round) => {
      const key = await group.addKey(`wallet.abort.${round}`);
      dishonest.abortsAtOnce = true;
      await cheat(key, 3, 1, round);
      await until(async () => (await bans(1, key)).length === 1);
      expect(await bans(1, key)).toEqual([{ peer: 3 }]);
      await expect(sign(build(key), 1, 3)).rejects.toMatchObject({ code: 'key_peer_banned' });
    },
  );

  test('a ban ends the running sessions with that peer by that key', async () => {
    const key = keyAt(1);
    dishonest.flipInRound = 1;
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => sign(build(key), 1, 3)));
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    expect(await bans(1, key)).toEqual([{ peer: 3 }]);
    const open = await group.query(1, 'select from journal where outcome is null');
    expect(open).toEqual([]);
  });

  test('the banned node’s peers learn of it and keep the ban for the node that made it', async () => {
    const told = (node: NodeIndex) =>
      group.query<{ node: number; key_id: string }>(node, 'select node, key_id from peer_bans where peer = 3 order by key_id');
    await until(async () => (await told(2)).some(({ key_id }) => key_id === keyAt(0).keyId));
    await until(async () => (await told(1)).some(({ node }) => node === 2));

    await group.stop(1);
    await group.query(1, 'delete from bans');
    await group.start(1);
    await until(() => Promise.resolve(group.node(1).journalIsComplete()));
    expect(await bans(1, keyAt(0))).toEqual([{ peer: 3 }]);
    await expect(sign(build(keyAt(0)), 1, 3)).rejects.toMatchObject({ code: 'key_peer_banned' });
  });

  test('the operator of the node that has the ban admits one attempt, once', async () => {
    const key = keyAt(0);
    const request = build(key);
    const { tx_id: txId } = request.claims;
    const unfreeze = async (node: NodeIndex, peer: NodeIndex) => {
      const { database } = await group.openStore(node);
      const order = { keyId: key.keyId, peer, orderId: request.claims.jti };
      await new MpcOperations(database).unfreeze(order, 'ann').finally(() => database.destroy());
    };
    // the node has not been asked for it
    await expect(unfreeze(1, 3)).rejects.toMatchObject({ code: 'not_found' });
    await expect(sign(request, 1, 3)).rejects.toMatchObject({ code: 'key_peer_banned' });
    await expect(unfreeze(1, 2)).rejects.toMatchObject({ code: 'not_found' });
    await unfreeze(1, 3);
    // other bytes under the same number do not have the permission
    const otherBytes = build(key);
    otherBytes.claims.tx_id = txId;
    await expect(sign(otherBytes, 1, 3)).rejects.toMatchObject({ code: 'key_peer_banned' });
    // another attempt of it, and another transfer, stay refused
    await expect(sign(asAttempt(request, 2, 'replacement'), 1, 3)).rejects.toMatchObject({ code: 'key_peer_banned' });
    expect((await sign(ordersAgain(request, 2), 1, 3)).signatures).toHaveLength(1);
    await expect(sign(build(key), 1, 3)).rejects.toMatchObject({ code: 'key_peer_banned' });
    // the recorded signature needs no session
    expect((await sign(request, 1, 3)).signatures).toHaveLength(1);
    expect(await group.query(1, 'select operator, act, detail from operator_acts')).toEqual([
      {
        ...{ operator: 'ann', act: 'unfreeze' },
        detail: {
          ...{ key_id: key.keyId, peer: 3, order: request.claims.jti, tx_id: txId, attempt: 1 },
          digests: request.claims.signers[0]?.digests,
        },
      },
    ]);
  });

  test('an attempt that was admitted in spite of a ban is used up by a session that fails', async () => {
    const key = keyAt(0);
    const request = build(key);
    const { database } = await group.openStore(1);
    await expect(sign(request, 1, 3)).rejects.toMatchObject({ code: 'key_peer_banned' });
    const order = { keyId: key.keyId, peer: 3, orderId: request.claims.jti };
    await new MpcOperations(database).unfreeze(order, 'ann').finally(() => database.destroy());
    dishonest.flipInRound = 2;
    await expect(sign(request, 1, 3)).rejects.toMatchObject({ code: 'signers_unavailable' });
    dishonest.flipInRound = 0;
    await expect(sign(request, 1, 3)).rejects.toMatchObject({ code: 'key_peer_banned' });
  });

  test(`${maxFailedSessions} sessions that fail after the peer may have learnt something are a ban`, async () => {
    const key = keyAt(1);
    const request = build(key);
    await sign(request, 2, 1);
    const failed = `insert into journal
      select (jsonb_populate_record(j, jsonb_build_object('number', n, 'tx_id', 'failed-' || n, 'key_id', $2::text, 'peer', 3,
                                                           'outcome', 'failed', 'signature', null))).*
        from journal j, generate_series(1, $3::int) n where j.tx_id = $1`;
    await group.query(2, failed, [request.claims.tx_id, key.keyId, maxFailedSessions - 1]);
    // one more: the last message is useless, and this node has sent its own
    await cheat(key, 2, 3, 3);
    expect(await bans(2, key)).toEqual([{ peer: 3 }]);
    await expect(sign(build(key), 3, 2)).rejects.toMatchObject({ code: 'key_peer_banned' });
  });
});
