import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { until } from '../../../dev/processes';
import type { GroupKey } from '../../../src/messages/key-generation';
import { RefusedRequests } from '../../../src/mpc/refused-requests';
import { createDatabase } from '../../../src/platform/database';
import { deployment, orderKeys } from '../../orders';
import { DishonestEngine } from './engines';
import { Group, localRegistry, wallet } from './group';
import { client, orderedTransfer, payTo, recipient, stranger } from './transactions';

/** `gateway mpc …` for the operator of node 1, each command a process of its own, beside the running node. */

const usdc = localRegistry.get('ethereum').tokens.find(({ symbol }) => symbol === 'USDC')!.contract!;
const limits = {
  chains: {
    ethereum: {
      maxFeesPerDay: '1000000000000000000',
      tokens: { [usdc]: { maxAmount: '1500000', maxPerDay: '9000000' } },
    },
  },
};

describe('gateway mpc', () => {
  let group: Group;
  let key: GroupKey;
  let nonce = 0;
  const dishonest = new DishonestEngine();

  beforeAll(async () => {
    group = await Group.create({ 1: { limits }, 3: { engine: dishonest } });
    key = await group.addKey('wallet.1');
  }, 120_000);
  afterAll(() => group.close());

  const build = (symbol?: string) => orderedTransfer(key, localRegistry, { nonce: (nonce += 1), ...(symbol && { symbol }) });
  const sign = (request = build('USDC')) => group.sign(request, 1, 2);

  const run = (args: string[], env: Record<string, string | undefined> = {}) => {
    const { key: tlsKey, cert, ca, peerCerts } = group.files.nodes[1];
    const settings = {
      PATH: process.env.PATH,
      GATEWAY_ENV: 'local',
      GATEWAY_OPERATOR: 'ann',
      CHAINS: 'ethereum,base',
      MPC_NODE_INDEX: '1',
      MPC_NODE_DATABASE_URL: group.databases[1].url,
      MPC_NODE_PEERS: [...group.peersOf(1)].map(([peer, url]) => `${peer}=${url.origin}`).join(','),
      MPC_NODE_TLS_KEY: tlsKey,
      MPC_NODE_TLS_CERT: cert,
      MPC_NODE_TLS_CA: ca,
      MPC_NODE_PEER_CERTS: peerCerts,
      MPC_NODE_ORDER_KEYS: orderKeys,
      MPC_NODE_DEPLOYMENT: deployment,
      ...env,
    };
    const command = [path.join(projectRoot, 'bin', 'gateway.js'), 'mpc', ...args];
    return new Promise<{ code: number; out: string; err: string }>((resolve) =>
      // Node 20.19 warns of Ed25519 in Web Crypto
      execFile(process.execPath, ['--disable-warning=ExperimentalWarning', ...command], { env: settings }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out, err }),
      ),
    );
  };
  const json = async (...args: string[]) => {
    const { code, out, err } = await run([...args, '--json']);
    return { code, err, rows: JSON.parse(out) as unknown };
  };
  const acts = () => group.query<{ operator: string; act: string }>(1, 'select operator, act from operator_acts order by act_id');

  test('status and limits in numbers', async () => {
    await sign();
    await expect(sign(build())).rejects.toMatchObject({ code: 'node_policy' });
    expect((await json('status')).rows).toMatchObject({
      node: 1,
      keys: '1',
      entries: '1',
      entries_open: '0',
      refusals_of_24_hours: '1',
      refused_requests_of_24_hours: '1',
    });
    const listed = await run(['limits', '--json'], { MPC_NODE_LIMITS: group.limitsOf(1) });
    expect(JSON.parse(listed.out)).toEqual([
      {
        chain: 'ethereum',
        token: usdc,
        max_amount: '1500000',
        max_per_key_and_day: null,
        max_per_day: '9000000',
        amount_of_24_hours: '1500000',
      },
      {
        ...{ chain: 'ethereum', token: 'fees' },
        ...{ max_amount: null, max_per_key_and_day: null, max_per_day: '1000000000000000000' },
        amount_of_24_hours: '3000000000000000',
      },
    ]);
    expect((await run(['limits'])).out).toContain('this node has no limits of its own');
  });

  test('what was refused is listed, at most 200 requests of one asker in an hour', async () => {
    const invented = build('USDC');
    payTo(invented, stranger);
    await expect(sign(invented)).rejects.toMatchObject({ code: 'intent_mismatch' });
    expect((await json('refused', '--limit', '1')).rows).toMatchObject([
      { asked_by: 'initiator', peer: 2, act: 'signTransaction', code: 'intent_mismatch', tx_id: invented.claims.tx_id },
    ]);

    const database = await createDatabase({
      url: group.databases[1].url,
      poolSize: 1,
      applicationName: 'test',
      entities: [],
    }).initialize();
    try {
      const refused = new RefusedRequests(database);
      const row = { role: 'peer', act: 'sign', code: 'order_refused', reason: 'none', named: {} } as const;
      await group.query(
        1,
        `insert into refused_requests (role, act, code, reason, peer, named, refused_at)
        values ('peer', 'sign', 'order_refused', 'old', 3, '{}', now() - interval '31 days')`,
      );
      for (let times = 0; times < 205; times += 1) await refused.add({ ...row, peer: 3 });
      await refused.add({ ...row, peer: 2 });
      const counts = `select peer, count(*)::int as count from refused_requests where role = 'peer' group by peer order by peer`;
      expect(await group.query(1, counts)).toEqual([
        { peer: 2, count: 1 },
        { peer: 3, count: 200 },
      ]);
    } finally {
      await database.destroy();
    }
  });

  test('the journal verifies; a changed row, a foreign signature and an entry that only a peer has are named', async () => {
    await sign();
    expect(await run(['journal', 'verify', '--peers'])).toMatchObject({
      code: 0,
      out: 'the journal is what this node has signed\n',
    });

    const [changed, forged, lost] = await group.query<{ number: string }>(1, 'select number from journal order by number');
    expect(lost).toBeUndefined();
    await group.query(1, 'alter table journal disable trigger all');
    await group.query(1, 'update journal set amount = 1 where number = $1', [changed?.number]);
    await group.query(1, `update journal set statement = replace(statement, '1500000', '1') where number = $1`, [forged?.number]);
    expect(await json('journal', 'verify')).toEqual({
      code: 1,
      err: 'gateway: 3 differences\n',
      rows: [
        { table: 'journal', subject: changed?.number, difference: 'the columns differ from the signed statement' },
        { table: 'journal', subject: forged?.number, difference: 'its signature does not verify' },
        { table: 'journal', subject: forged?.number, difference: 'the bytes of its order have another amount' },
      ],
    });
    await group.query(1, 'delete from journal');
    await group.query(1, 'alter table journal enable trigger all');
    expect((await json('journal', 'verify')).rows).toEqual([]);
    expect((await json('journal', 'verify', '--peers')).rows).toEqual(
      [changed, forged].map((entry) => ({
        table: 'copies at node 2',
        subject: entry?.number,
        difference: 'the journal does not have this entry',
      })),
    );
  });

  test('bans are listed; unfreeze and accept are recorded with the operator', async () => {
    // the test before has deleted entries: the node notices, and takes them back first
    await expect(group.sign(build('USDC'), 1, 2)).rejects.toMatchObject({ code: 'journal_behind' });
    expect(await until(() => Promise.resolve(group.node(1).journalIsComplete()), 20_000)).toBe(true);
    dishonest.flipInRound = 1;
    const request = build('USDC');
    await expect(group.sign(request, 1, 3)).rejects.toThrow();
    const { jti, tx_id: txId } = request.claims;
    expect((await json('bans')).rows).toMatchObject([{ by_node: 1, key_id: key.keyId, banned: 3 }]);

    expect(await run(['unfreeze', key.keyId, '2', jti, '--yes'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('no ban of node 2'),
    });
    expect(await run(['unfreeze', key.keyId, '4', jti])).toMatchObject({
      code: 2,
      err: expect.stringContaining('from 1 to 3'),
    });
    for (const unknown of ['tx', randomUUID()])
      expect(await run(['unfreeze', key.keyId, '3', unknown, '--yes'])).toMatchObject({
        code: 1,
        err: expect.stringContaining('was not asked to sign'),
      });
    for (const act of [
      ['unfreeze', key.keyId, '3', jti],
      ['journal', 'accept'],
    ])
      expect(await run(act)).toMatchObject({ code: 1, err: expect.stringContaining('repeat the command with --yes') });
    expect(await acts()).toEqual([]);
    expect(await run(['unfreeze', key.keyId, '3', jti, '--yes', '--reason', 'its funds are moved'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(new RegExp(`${txId}[^]* 1500000 of ${usdc} to ${recipient}`)),
    });
    expect(await run(['journal', 'accept', '--yes'])).toMatchObject({ code: 0 });
    expect(await acts()).toEqual([
      { operator: 'ann', act: 'unfreeze' },
      { operator: 'ann', act: 'journal_accept' },
    ]);
  });

  describe('keys', () => {
    const owner = { wallet_id: wallet, client_id: client, account_id: null };
    const bound = { key_id: 'wallet.1', ...owner, protocol: 'ecdsa-secp256k1' };
    const time = expect.stringMatching(/^\d{4}-.*Z$/);

    test('with wallet, bans and signatures, page by page', async () => {
      await sign();
      await group.addKey('wallet.2', { isBound: false });
      const [counted] = await group.query<{ signed: string; failed: string }>(
        1,
        `select count(*) filter (where outcome = 'signed') as signed, count(*) filter (where outcome = 'failed') as failed from journal`,
      );
      const first = {
        ...{ ...bound, state: 'degraded', signs_with: '2', bans: '3 by 1', public_key: key.publicKey },
        ...{ signatures: counted?.signed, failed_sessions: counted?.failed, created_at: time, bound_at: time },
      };
      expect(Number(counted?.signed)).toBeGreaterThan(0);
      const unbound = {
        key_id: 'wallet.2',
        state: 'unbound',
        signs_with: null,
        wallet_id: null,
        bound_at: null,
        signatures: '0',
      };
      expect((await json('keys')).rows).toEqual([first, expect.objectContaining(unbound)]);
      expect((await json('keys', '--limit', '1')).rows).toEqual([first]);
      expect((await json('keys', '--limit', '1', '--after', 'wallet.1')).rows).toMatchObject([unbound]);
      expect((await json('keys', '--after', 'wallet.2')).rows).toEqual([]);
      expect((await json('keys', '--key', 'wallet.1')).rows).toEqual(first);
      expect(await run(['keys', '--key', 'wallet.9'])).toMatchObject({
        code: 1,
        err: expect.stringContaining('no share of key'),
      });
      expect(await run(['keys', '--limit', '1001'])).toMatchObject({ code: 2 });
    });

    test('is frozen when, by what the peers have told, no pair of nodes is left', async () => {
      const tell = (by: number, banned: number) =>
        group.query(1, `insert into peer_bans (node, key_id, peer, statement, signature) values ($1, 'wallet.1', $2, '{}', '')`, [
          by,
          banned,
        ]);
      const state = async () => (await json('keys', '--key', 'wallet.1')).rows;
      await tell(3, 1);
      expect(await state()).toMatchObject({ state: 'degraded', signs_with: '2', bans: '3 by 1, 1 by 3' });
      await tell(3, 2);
      expect(await state()).toMatchObject({ state: 'degraded', signs_with: '2' });
      await tell(2, 1);
      expect(await state()).toMatchObject({ state: 'frozen', signs_with: null, bans: '3 by 1, 1 by 2, 1 by 3, 2 by 3' });
    });
  });

  test('without a database it ends as unavailable, without its address as wrongly configured', async () => {
    expect((await run(['status'], { MPC_NODE_DATABASE_URL: 'postgres://x:x@127.0.0.1:1/x' })).code).toBe(69);
    expect((await run(['status'], { MPC_NODE_DATABASE_URL: undefined })).code).toBe(78);
  });
});
