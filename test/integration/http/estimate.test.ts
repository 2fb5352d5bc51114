import { randomUUID } from 'node:crypto';
import { getFamily as productFamily } from '../../../src/chains/families';
import type { GetFamily } from '../../../src/chains/family';
import { estimateTransfer } from '../../../src/transfers/accept/estimate';
import { buildAccount, buildAsset, buildTransferRequest, fundAccount, randomAddress, wrongChecksum } from '../../factories';
import { acceptDependencies, roomyStartLimits } from '../../ledger';
import { listAddress } from '../screening/factors';
import { type Answer, buildFunded, createFixture, ethereum, expectProblem, type Fixture, type Funded, registry } from './fixture';

/** POST /transfer/estimate answers what POST /transfer would do, and does nothing. */

let fixture: Fixture;
let funded: Funded;
beforeAll(async () => {
  fixture = await createFixture();
  funded = await buildFunded(fixture, fixture.demo);
});
afterAll(() => fixture.close());

const valid = () => ({
  from_address: funded.account.address,
  to_address: randomAddress(),
  chain: 'ethereum',
  token_symbol: 'USDC',
  amount: '1.5',
});
const estimate = (body: object, at = fixture) => at.call('POST', '/transfer/estimate', { body });
const transfer = (body: object, at = fixture) => at.call('POST', '/transfer', { body });
const sql = (text: string, parameters: unknown[] = []) => fixture.database.query<unknown>(text, parameters);

const feeOf = (body: Answer['body']): string => (body['fee_bound'] as unknown as { amount: string }).amount;

/** A digest of the rows of every table, but for the counters of limits. */
async function image(): Promise<Record<string, string>> {
  // a delivery after an answer deletes its message
  await fixture.resources.outbox.settled();
  const tables = await fixture.database.query<{ name: string }[]>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
      and table_name <> 'request_quotas' order by table_name`,
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await fixture.database.query<{ digest: string }[]>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, ',' order by t::text)), '') as digest from "${name}" t`,
    );
    digests[name] = row?.digest ?? '';
  }
  return digests;
}

/** A problem without what is of its own request. */
const withoutRequest = ({ body }: Answer) =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'instance' && name !== 'request_id'));

/** What both answer to one request: the refusal of the one is the problem of the other. */
async function expectSameRefusal(changes: object, code: string): Promise<{ estimated: Answer; refused: Answer }> {
  const body = { ...valid(), ...changes };
  const before = await image();
  const estimated = await estimate(body);
  expect(await image()).toEqual(before);
  const refused = await transfer(body);
  expectProblem(refused, refused.status, code);
  expect([estimated.status, estimated.body]).toMatchObject([200, { would_be_accepted: false, refusal: { code }, warnings: [] }]);
  expect(estimated.body['refusal']).toEqual(withoutRequest(refused));
  return { estimated, refused };
}

describe('what would be accepted', () => {
  test('amount, fee bound, what there is and what is needed; the same transfer locks exactly this', async () => {
    const body = valid();
    const before = await image();
    const { status, body: answer } = await estimate(body);
    expect(await image()).toEqual(before);
    expect([status, answer]).toEqual([
      200,
      {
        would_be_accepted: true,
        refusal: null,
        needs_approval: false,
        chain: 'ethereum',
        token_symbol: 'USDC',
        amount: '1.5',
        fee_bound: { amount: expect.stringMatching(/^0\.0\d+$/), symbol: 'ETH' },
        balances: [
          { token_symbol: 'USDC', available: '1000', needed: '1.5' },
          { token_symbol: 'ETH', available: '10', needed: feeOf(answer) },
        ],
        warnings: [],
      },
    ]);
    const accepted = await transfer(body);
    expect(accepted.status).toBe(202);
    const assets = (await fixture.call('GET', '/assets')).body.data;
    const locked = Object.fromEntries(assets.map(({ symbol, locked_balance }) => [symbol, locked_balance]));
    expect(locked).toEqual({ USDC: '1.5', ETH: feeOf(answer) });
    await fixture.call('POST', `/transactions/${String(accepted.body['tx_id'])}/cancel`);
  });

  test('of the native coin the needed amount has the fee bound in it', async () => {
    const { body } = await estimate({ ...valid(), token_symbol: 'ETH', amount: '1' });
    expect(body).toMatchObject({ amount: '1', fee_bound: { symbol: 'ETH' } });
    expect(body['balances']).toEqual([{ token_symbol: 'ETH', available: '10', needed: `1.${feeOf(body).slice(2)}` }]);
  });

  test('all that is available, to the last unit', async () => {
    const { body } = await estimate({ ...valid(), amount: '1000' });
    expect(body).toMatchObject({ would_be_accepted: true, balances: [{ available: '1000', needed: '1000' }, {}] });
  });

  test('the database refuses what would write or lock', async () => {
    const statements = ['delete from workflow_outbox', 'select 1 from wallets for update'];
    for (const statement of statements) {
      const getFamily: GetFamily = (name) => ({
        ...productFamily(name),
        bound: async (manager) => {
          await manager.query(statement);
          return 1n;
        },
      });
      const request = buildTransferRequest(funded.account, ethereum, { tokenSymbol: 'USDC' });
      await expect(estimateTransfer(acceptDependencies(fixture.apiDatabase, registry, { getFamily }), request)).rejects.toThrow(
        'in a read-only transaction',
      );
    }
  });

  test('needs_approval: by the policy of the client, also where the balance does not suffice; nothing waits', async () => {
    await sql(`update clients set whitelist_mode = 'approve' where client_id = $1`, [fixture.demo.clientId]);
    const before = await image();
    const [enough, tooMuch] = [await estimate(valid()), await estimate({ ...valid(), amount: '5000' })];
    expect(await image()).toEqual(before);
    await sql(`update clients set whitelist_mode = 'off' where client_id = $1`, [fixture.demo.clientId]);
    expect(enough.body).toMatchObject({ would_be_accepted: true, needs_approval: true });
    expect(tooMuch.body).toMatchObject({
      would_be_accepted: false,
      needs_approval: true,
      refusal: { code: 'insufficient_balance' },
    });
  });

  test('neither the row of a limit nor a balance is locked or waited for, and the start is not counted', async () => {
    await sql(`insert into wallet_limits (wallet_id, symbol, max_single, max_daily) values ($1, 'USDC', 100, 100)`, [
      funded.wallet.walletId,
    ]);
    const holder = fixture.database.createQueryRunner();
    await holder.startTransaction();
    await holder.query('select 1 from wallet_limits for update');
    await holder.query('select 1 from ledger_accounts for update');
    await holder.query('select 1 from wallets for update');
    const answer = await estimate(valid()).finally(async () => {
      await holder.rollbackTransaction();
      await holder.release();
      await sql('delete from wallet_limits where wallet_id = $1', [funded.wallet.walletId]);
    });
    expect([answer.status, answer.body['would_be_accepted']]).toEqual([200, true]);
    const started = fixture.workflows.started.length;
    await fixture.dispatch();
    expect(fixture.workflows.started).toHaveLength(started);
  });

  test('an account that has never held the coin of the fee: nothing is made for it', async () => {
    const account = await buildAccount(fixture.database, funded.wallet, ethereum);
    await buildAsset(fixture.database, account, ethereum, 'USDC');
    await fundAccount(fixture.database, account, ethereum, 'USDC', 1_000_000n);
    const { estimated } = await expectSameRefusal({ from_address: account.address, amount: '1' }, 'insufficient_balance');
    const needed = feeOf(estimated.body);
    expect(estimated.body['balances']).toEqual([
      { token_symbol: 'USDC', available: '1', needed: '1' },
      { token_symbol: 'ETH', available: '0', needed },
    ]);
    expect(estimated.body['refusal']).toMatchObject({ token_symbol: 'ETH', available: '0', needed });
  });
});

describe('what would be refused: with the code, the text and the members of POST /transfer', () => {
  const by = (text: string, id: () => unknown, undo: string) => async (run: () => Promise<unknown>) => {
    await sql(text, [id()]);
    await run().finally(() => sql(undo, [id()]));
  };
  const wallet = () => funded.wallet.walletId;
  const account = () => funded.account.accountId;
  const client = () => fixture.demo.clientId;

  test('insufficient_balance of the token, with what there is and what it takes', async () => {
    const { estimated } = await expectSameRefusal({ amount: '1000.000001' }, 'insufficient_balance');
    expect(estimated.body['refusal']).toMatchObject({ token_symbol: 'USDC', available: '1000', needed: '1000.000001' });
    expect(estimated.body['fee_bound']).not.toBeNull();
  });
  test('insufficient_balance of the coin, with its fee bound', async () => {
    const { estimated } = await expectSameRefusal({ token_symbol: 'ETH', amount: '10' }, 'insufficient_balance');
    expect(estimated.body['balances']).toMatchObject([{ available: '10', needed: expect.stringMatching(/^10\.0\d+$/) }]);
  });

  const states: [string, string, (run: () => Promise<unknown>) => Promise<void>][] = [
    [
      'a suspended wallet',
      'wallet_not_active',
      by(
        `update wallets set status = 'SUSPENDED' where wallet_id = $1`,
        wallet,
        `update wallets set status = 'ACTIVE' where wallet_id = $1`,
      ),
    ],
    [
      'an account that is not active',
      'account_not_active',
      by(
        `update accounts set status = 'INACTIVE' where account_id = $1`,
        account,
        `update accounts set status = 'ACTIVE' where account_id = $1`,
      ),
    ],
    [
      'a limit of a single transfer',
      'business_error',
      by(
        `insert into wallet_limits (wallet_id, symbol, max_single) values ($1, 'USDC', 1)`,
        wallet,
        'delete from wallet_limits where wallet_id = $1',
      ),
    ],
    [
      'a limit of 24 hours',
      'business_error',
      by(
        `insert into wallet_limits (wallet_id, symbol, max_daily) values ($1, 'USDC', 1)`,
        wallet,
        'delete from wallet_limits where wallet_id = $1',
      ),
    ],
    [
      'a frozen token',
      'business_error',
      by(
        `update ledger_accounts set frozen_reason = 'x' where account_id = $1 and symbol = 'USDC'`,
        account,
        'update ledger_accounts set frozen_reason = null where account_id = $1',
      ),
    ],
    [
      'a frozen coin',
      'business_error',
      by(
        `update ledger_accounts set frozen_reason = 'x' where account_id = $1 and symbol = 'ETH'`,
        account,
        'update ledger_accounts set frozen_reason = null where account_id = $1',
      ),
    ],
    [
      'a destination that is not on the whitelist',
      'address_not_whitelisted',
      by(
        `update clients set whitelist_mode = 'only' where client_id = $1`,
        client,
        `update clients set whitelist_mode = 'off' where client_id = $1`,
      ),
    ],
  ];
  test.each(states)('%s: %s', (_, code, within) => within(() => expectSameRefusal({}, code)));

  test('the first of several reasons, as POST /transfer tells it', async () => {
    const suspended = states[0]?.[2];
    const listed = states[6]?.[2];
    await suspended?.(() => expectSameRefusal({ amount: '5000' }, 'wallet_not_active'));
    await listed?.(() => expectSameRefusal({ amount: '5000' }, 'address_not_whitelisted'));
  });

  test('address_blacklisted names the field, and leaves no row in the audit log', async () => {
    const to_address = randomAddress();
    await listAddress(fixture.database, { clientId: client() }, to_address);
    const { estimated } = await expectSameRefusal({ to_address }, 'address_blacklisted');
    expect(estimated.body['refusal']).toMatchObject({ errors: [{ field: 'to_address' }] });
  });

  test('external_id_in_use', async () => {
    const external_id = `order-${randomUUID().slice(0, 8)}`;
    expect((await estimate({ ...valid(), external_id })).body).toMatchObject({ would_be_accepted: true });
    const { body } = await transfer({ ...valid(), external_id });
    await expectSameRefusal({ external_id }, 'external_id_in_use');
    await fixture.call('POST', `/transactions/${String(body['tx_id'])}/cancel`);
  });

  test('address_differs: the stored address is not the one that the nodes attest', async () => {
    const account = await buildAccount(fixture.database, funded.wallet, ethereum);
    await buildAsset(fixture.database, account, ethereum, 'ETH');
    const address = randomAddress();
    await sql(`set session_replication_role = replica; update accounts set address = '${address}', address_key = '${address.toLowerCase()}'
      where account_id = '${account.accountId}'; set session_replication_role = origin`);
    await expectSameRefusal({ from_address: address, token_symbol: 'ETH', amount: '0.1' }, 'address_differs');
  });

  test('while the fees are not known, what is refused before them is refused for that, without a bound', async () => {
    await sql(`update chain_cursors set fee_levels_at = now() - interval '11 minutes'`);
    try {
      await states[0]?.[2](async () => {
        const { estimated } = await expectSameRefusal({}, 'wallet_not_active');
        expect(estimated.body).toMatchObject({
          fee_bound: null,
          balances: [
            { token_symbol: 'USDC', needed: '1.5' },
            { token_symbol: 'ETH', needed: null },
          ],
        });
      });
    } finally {
      await sql('update chain_cursors set fee_levels_at = now()');
    }
  });
});

describe('what is answered like a refusal of POST /transfer, since there is no asset to say anything of', () => {
  test.each<[string, object, number, string]>([
    ['an unknown field', { ammount: '1' }, 400, 'invalid_parameter'],
    ['an amount of zero', { amount: '0' }, 400, 'invalid_parameter'],
    ['too many decimals', { amount: '1.0000001' }, 400, 'invalid_parameter'],
    ['an unknown chain', { chain: 'dogecoin' }, 400, 'invalid_parameter'],
    ['no address', { to_address: 'bob' }, 400, 'invalid_address'],
    ['a wrong checksum', { to_address: wrongChecksum('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed') }, 400, 'invalid_address'],
    ['an unknown sender', { from_address: randomAddress() }, 404, 'not_found'],
    ['a token that was not added', { token_symbol: 'USDT' }, 404, 'not_found'],
    ['an unknown token', { token_symbol: 'DOGE' }, 404, 'not_found'],
  ])('%s', async (_, changes, status, code) => {
    const body = { ...valid(), ...changes };
    const [estimated, refused] = [await estimate(body), await transfer(body)];
    expectProblem(estimated, status, code);
    expect(withoutRequest(estimated)).toEqual(withoutRequest(refused));
  });

  test('a wrong checksum says so, and a bad format does not', async () => {
    const detail = async (to_address: string) => (await estimate({ ...valid(), to_address })).body['detail'];
    expect(await detail('0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed')).toBe(
      'to_address is not a valid address on ethereum: its checksum is wrong',
    );
    expect(await detail('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe')).toBe('to_address is not a valid address on ethereum');
  });
});

describe('503', () => {
  test('chain_unavailable while the fees of the chain are not known', async () => {
    await sql(`update chain_cursors set fee_levels_at = now() - interval '11 minutes'`);
    const answer = await estimate(valid());
    await sql('update chain_cursors set fee_levels_at = now()');
    expectProblem(answer, 503, 'chain_unavailable');
    expect(answer.headers.get('retry-after')).toBe('15');
  });

  test('unavailable while too many transfers wait for their start', async () => {
    const full = await createFixture({ shared: fixture, startLimits: { ...roomyStartLimits, maxPendingPerClient: 0 } });
    const [estimated, refused] = [await estimate(valid(), full), await transfer(valid(), full)];
    await full.close();
    expectProblem(estimated, 503, 'unavailable');
    expect(estimated.body['detail']).toBe(refused.body['detail']);
  });

  test('reconcile_required while the orders are not compared', async () => {
    await sql(`update order_comparison set compared_as = 'before'`);
    const [estimated, refused] = [await estimate(valid()), await transfer(valid())];
    await sql('update order_comparison set compared_as = database_incarnation()');
    expectProblem(refused, 503, 'reconcile_required');
    expectProblem(estimated, 503, 'reconcile_required');
  });
});

test('401 without a token; requests count towards the limit of the client', async () => {
  expectProblem(await fixture.call('POST', '/transfer/estimate', { body: valid(), tenant: null }), 401, 'unauthorized');
  expect((await estimate(valid())).headers.get('ratelimit-policy')).toContain('"client"');
  const few = await createFixture({ shared: fixture, limits: { clientPerMinute: 12 } });
  const statuses: number[] = [];
  for (let sent = 0; sent < 3; sent += 1) statuses.push((await estimate(valid(), few)).status);
  await few.close();
  expect(statuses).toContain(429);
});

test('the document names what is answered; what may be null is named without null', async () => {
  const { body } = await fixture.call('GET', '/openapi.json', { tenant: null });
  const { schemas } = (body as unknown as { components: { schemas: Record<string, Record<string, object>> } }).components;
  expect(schemas['TransferRefusal']).toMatchObject({ type: 'object', required: ['type', 'title', 'status', 'detail', 'code'] });
  expect(schemas['NeededBalance']).toMatchObject({ type: 'object' });
  expect(schemas['TransferEstimate']).toMatchObject({
    type: 'object',
    properties: {
      refusal: { anyOf: [{ $ref: '#/components/schemas/TransferRefusal' }, { type: 'null' }], description: expect.any(String) },
      balances: { items: { $ref: '#/components/schemas/NeededBalance' } },
      warnings: { items: { $ref: '#/components/schemas/TransferWarning' } },
    },
  });
});
