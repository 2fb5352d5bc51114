import { mkdirSync, rmdirSync } from 'node:fs';
import { getFamily } from '../../../src/chains/families';
import type { GroupKey } from '../../../src/messages/key-generation';
import type { NodeIndex } from '../../../src/messages/nodes';
import { Group, localRegistry } from './group';
import {
  asAttempt,
  asReissue,
  orderedTransfer,
  type OrderedTransfer,
  ordersAgain,
  provesAll,
  type TransferOptions,
} from './transactions';

interface Entry {
  number: string;
  tx_id: string;
  attempt: number;
  key_id: string;
  peer: number;
  initiator: number;
  outcome: string | null;
  signature: Buffer | null;
  amount: string;
  resources: string[];
  digests: string[];
}

describe('the journal of a node', () => {
  let group: Group;
  let key: GroupKey;
  let nonce = 100;

  beforeAll(async () => {
    group = await Group.create({ 1: { provers: provesAll }, 2: { provers: provesAll } });
    key = await group.addKey('wallet.1');
  }, 120_000);
  afterAll(() => group.close());

  const build = (options: TransferOptions = {}): OrderedTransfer =>
    orderedTransfer(key, localRegistry, { symbol: 'USDC', nonce: (nonce += 1), ...options });
  const sign = (request: OrderedTransfer, initiator: NodeIndex = 1, peer: NodeIndex = 2) => group.sign(request, initiator, peer);
  const entries = (node: NodeIndex, { claims }: OrderedTransfer) =>
    group.query<Entry>(node, 'select * from journal where tx_id = $1 order by number', [claims.tx_id]);
  /** The same transfer, with the bytes of another nonce. */
  const again = (first: OrderedTransfer, attempt: number, kind: Parameters<typeof asAttempt>[2], other: number) =>
    asAttempt(build({ nonce: other }), attempt, kind, first);

  test('initiator and peer write an entry each, and keep the copy that the other has signed', async () => {
    const request = build();
    const { signatures } = await sign(request);
    for (const [node, peer] of [
      [1, 2],
      [2, 1],
    ] as const) {
      const [entry, ...others] = await entries(node, request);
      expect(others).toEqual([]);
      expect(entry).toMatchObject({ attempt: 1, key_id: key.keyId, peer, initiator: 1, outcome: 'signed', amount: '1500000' });
      expect(`0x${entry?.signature?.toString('hex')}`).toBe(signatures[0]);
      expect(entry?.resources).toEqual([`ethereum/${request.claims.from.toLowerCase()}/${nonce}`]);
      const copies = await group.query(peer, 'select from peer_entries where node = $1 and number = $2', [node, entry?.number]);
      expect(copies).toHaveLength(1);
    }
    expect(await entries(3, request)).toEqual([]);
  });

  test('a signed attempt is answered with the recorded signature, by initiator and peer alike', async () => {
    const request = build();
    const { signatures } = await sign(request, 1, 2);
    expect(await sign(request, 1, 2)).toEqual({ signatures });
    // whichever order asks
    expect(await sign(ordersAgain(request, 2), 2, 1)).toEqual({ signatures });
    expect(await sign(request, 1, 3)).toEqual({ signatures });
    // node 3 has not signed it, and is answered by node 2
    expect(await sign(request, 3, 2)).toEqual({ signatures });
    expect(await entries(3, request)).toMatchObject([{ outcome: 'signed', peer: 2 }]);
    expect(await entries(2, request)).toHaveLength(1);
  });

  test('one attempt has one set of digests for ever, whichever pair is asked', async () => {
    const request = build();
    await sign(request, 1, 2);
    const other = again(request, 1, 'transfer', 900);
    for (const [initiator, peer] of [
      [1, 2],
      [2, 3],
      [3, 1],
    ] as const)
      await expect(sign(other, initiator, peer)).rejects.toMatchObject({
        code: 'intent_mismatch',
        message: expect.stringContaining('digests'),
      });
  });

  test('of two sets of digests for one attempt, asked for at the same moment, only one is signed', async () => {
    let signedRounds = 0;
    for (let round = 0; round < 4; round += 1) {
      const one = build();
      const other = again(one, 1, 'transfer', 1_000 + round);
      const outcomes = await Promise.allSettled([sign(one, 1, 2), sign(other, 2, 3), sign(one, 3, 1), sign(other, 1, 3)]);
      const signed = [outcomes[0], outcomes[2]].some(({ status }) => status === 'fulfilled');
      const otherSigned = [outcomes[1], outcomes[3]].some(({ status }) => status === 'fulfilled');
      expect(signed && otherSigned).toBe(false);
      if (signed || otherSigned) signedRounds += 1;
      for (const node of [1, 2, 3] as const)
        expect(new Set((await entries(node, one)).map(({ digests }) => digests.join())).size).toBeLessThan(2);
    }
    // in a single round the four may all be in each other's way
    expect(signedRounds).toBeGreaterThan(0);
  });

  test('a later attempt uses up what the first one does; a reissue does not have to, and is refused where attempts do not expire', async () => {
    const request = build();
    const used = nonce;
    await sign(request, 1, 2);
    const elsewhere = again(request, 2, 'replacement', 901);
    await expect(sign(elsewhere, 1, 2)).rejects.toMatchObject({ message: expect.stringContaining('resources') });
    await expect(sign(elsewhere, 2, 3)).rejects.toMatchObject({ message: expect.stringContaining('resources') });
    const replacement = again(request, 2, 'replacement', used);
    await sign(replacement, 2, 3);
    const reissue = asReissue(build({ nonce: 902 }), 3, [request, replacement]);
    const refused = { code: 'intent_mismatch', message: expect.stringContaining('kind') as string };
    await expect(sign(reissue, 1, 2)).rejects.toMatchObject(refused);
    expect(await entries(1, reissue)).toHaveLength(1);
    const family = getFamily('evm');
    jest.replaceProperty(family, 'rules', { ...family.rules, expired: 'reissue' });
    await sign(reissue, 1, 2);
    await expect(sign(again(request, 4, 'replacement', used), 1, 2)).rejects.toMatchObject({
      message: expect.stringContaining('resources'),
    });
    await sign(again(request, 4, 'replacement', 902), 1, 2);
    jest.restoreAllMocks();
  });

  test('a session that the peer does not take up has not begun', async () => {
    await group.stop(2);
    try {
      const request = build();
      await expect(sign(request, 1, 2)).rejects.toMatchObject({ code: 'signers_unavailable' });
      expect(await entries(1, request)).toMatchObject([{ outcome: 'not_begun', signature: null }]);
    } finally {
      await group.start(2);
    }
  });

  test('an entry is never changed or removed by a statement', async () => {
    const request = build();
    await sign(request);
    const { tx_id: txId } = request.claims;
    for (const statement of [
      'delete from journal where tx_id = $1',
      `update journal set outcome = 'failed', signature = null where tx_id = $1`,
      `update journal set statement = '{}' where tx_id = $1`,
    ])
      await expect(group.query(1, statement, [txId])).rejects.toThrow(/never changed/);
  });

  test('sessions that a crashed process has left behind are closed at the next start', async () => {
    const request = build();
    await sign(request, 1, 2);
    const copy = `insert into journal
      select (jsonb_populate_record(j, jsonb_build_object('number', n, 'tx_id', 'crashed', 'amount', 0, 'fee', 0, 'outcome', null, 'signature', null))).*
        from journal j, generate_series(7, 8) n where tx_id = $1`;
    await group.query(1, copy, [request.claims.tx_id]);
    await group.stop(1);
    await group.start(1);
    expect(await group.query(1, `select outcome from journal where tx_id = 'crashed' order by number`)).toEqual([
      { outcome: 'interrupted' },
      { outcome: 'failed' },
    ]);
  });

  test('an attempt whose sessions were cut off by a crash of both nodes is signed after it', async () => {
    const request = build();
    await sign(request, 1, 2);
    for (const node of [1, 2] as const) {
      await group.stop(node);
      await group.query(
        node,
        `alter table journal disable trigger all;
         update journal set outcome = null, signature = null, ended_at = null where tx_id = '${request.claims.tx_id}';
         alter table journal enable trigger all`,
      );
    }
    await group.start(1);
    await group.start(2);
    await sign(request, 1, 2);
    expect(await entries(1, request)).toMatchObject([{ outcome: 'failed' }, { outcome: 'signed' }]);
    expect(await entries(2, request)).toMatchObject([{ outcome: 'failed' }, { outcome: 'signed' }]);
  });

  test('numbers rise when the clock was set back, so that the mark goes on', async () => {
    const request = build();
    await sign(request, 1, 2);
    const ahead = Date.now() * 1000 + 86_400_000_000;
    const copy = `insert into journal select (jsonb_populate_record(j, jsonb_build_object('number', $2::bigint, 'tx_id', 'ahead', 'amount', 0, 'fee', 0))).*
                    from journal j where tx_id = $1`;
    await group.query(1, copy, [request.claims.tx_id, ahead]);
    await group.stop(1);
    await group.start(1);
    const later = build();
    await sign(later, 1, 2);
    const [entry] = await entries(1, later);
    expect(Number(entry?.number)).toBe(ahead + 1);
    expect(group.readMark(1)).toMatchObject({ entry: { number: ahead + 1 } });
  });

  test('while its mark cannot be written a node begins no session, and no peer counts one as failed', async () => {
    const obstacle = `${group.markOf(1)}.new`;
    const failed = () => group.query(2, `select number from journal where peer = 1 and outcome = 'failed'`);
    const before = await failed();
    mkdirSync(obstacle);
    try {
      // this one finds out
      await expect(sign(build(), 1, 2)).rejects.toMatchObject({ code: 'signers_unavailable' });
      await expect(sign(build(), 1, 2)).rejects.toMatchObject({ code: 'journal_behind' });
      await expect(sign(build(), 2, 1)).rejects.toMatchObject({ code: 'journal_behind' });
      expect(group.node(1).journalIsComplete()).toBe(false);
      expect(await failed()).toEqual(before);
    } finally {
      rmdirSync(obstacle);
    }
    for (let tries = 0; !group.node(1).journalIsComplete() && tries < 100; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 100));
    await sign(build(), 1, 2);
  });

  describe('with a database that is older than the journal mark', () => {
    /** Takes everything after an entry out of a node's journal, as the restore of a backup would. */
    const forget = (node: NodeIndex, after: string) =>
      group.query(
        node,
        `alter table journal disable trigger all; delete from journal where number > ${after};
                         delete from admitted_amounts; alter table journal enable trigger all`,
      );
    const newest = async (node: NodeIndex): Promise<string> =>
      (await group.query<{ number: string }>(node, 'select max(number) as number from journal'))[0]!.number;
    const until = async (what: () => boolean) => {
      for (let tries = 0; !what() && tries < 150; tries += 1) await new Promise((resolve) => setTimeout(resolve, 100));
      expect(what()).toBe(true);
    };

    const amounts = 'select token, key_id, amount from admitted_amounts order by token, key_id';

    test('a node takes back from its peers what it has signed, and then signs', async () => {
      await sign(build(), 1, 2);
      const kept = await newest(1);
      const lost = [build(), build()] as const;
      await sign(lost[0], 1, 2);
      await sign(lost[1], 3, 1);
      await group.stop(1);
      const before = await group.query(1, amounts);
      expect(before).toContainEqual(expect.objectContaining({ token: 'fees' }));
      await forget(1, kept);
      await group.start(1);
      await until(() => group.node(1).journalIsComplete());
      for (const request of lost) expect(await entries(1, request)).toMatchObject([{ outcome: 'recovered', amount: '1500000' }]);
      expect(await group.query(1, amounts)).toEqual(before);
      await expect(sign(again(lost[0], 1, 'transfer', 950), 1, 3)).rejects.toMatchObject({
        message: expect.stringContaining('digests'),
      });
      await sign(build(), 1, 2);
    });

    test('a node whose running database is replaced by an older one notices with the next signature, and takes back', async () => {
      const kept = await newest(1);
      const lost = build();
      await sign(lost, 1, 2);
      await forget(1, kept);
      await expect(sign(again(lost, 1, 'transfer', 960), 1, 3)).rejects.toMatchObject({ code: 'journal_behind' });
      expect(await entries(1, lost)).not.toMatchObject([{ outcome: 'signed' }]);
      await until(() => group.node(1).journalIsComplete());
      expect(await entries(1, lost)).toMatchObject([{ outcome: 'recovered' }]);
      await expect(sign(again(lost, 1, 'transfer', 960), 1, 3)).rejects.toMatchObject({ code: 'intent_mismatch' });
      await sign(build(), 1, 2);
    });

    test('with a peer down it refuses to sign, and its peers sign without it; with the peer back it goes on', async () => {
      const kept = await newest(1);
      await sign(build(), 1, 2);
      await group.stop(1);
      await forget(1, kept);
      await group.stop(3);
      await group.start(1);
      await expect(sign(build(), 1, 2)).rejects.toMatchObject({ code: 'journal_behind' });
      await expect(sign(build(), 2, 1)).rejects.toMatchObject({ code: 'journal_behind' });
      await expect(group.testSign(2, 1, key.keyId)).rejects.toMatchObject({
        code: 'journal_behind',
      });
      await group.start(3);
      await sign(build(), 2, 3);
      await until(() => group.node(1).journalIsComplete());
      await sign(build(), 1, 2);
    });

    test('without the file it takes back too, from both peers; a copy that no peer has is for the operator to accept', async () => {
      await sign(build(), 1, 2);
      await group.stop(1);
      await group.stop(3);
      group.removeMark(1);
      await group.start(1);
      await expect(sign(build(), 1, 2)).rejects.toMatchObject({ code: 'journal_behind' });
      await group.start(3);
      await until(() => group.node(1).journalIsComplete());

      const kept = await newest(1);
      await sign(build(), 1, 2);
      await group.stop(1);
      await forget(1, kept);
      await group.query(2, 'delete from peer_entries where node = 1 and number > $1', [kept]);
      await group.start(1);
      await expect(sign(build(), 1, 2)).rejects.toMatchObject({ code: 'journal_behind' });
      await group.query(1, `insert into operator_acts (operator, act) values ('ann', 'journal_accept')`);
      await until(() => group.node(1).journalIsComplete());
      await sign(build(), 1, 2);
    });
  });
});
