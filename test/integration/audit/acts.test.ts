import { type AuditRow, listAuditLog } from '../../../src/audit/list';
import { ClientOperations } from '../../../src/cli/client-operations';
import { currentOperator } from '../../../src/cli/operator';
import { WalletOperations } from '../../../src/cli/wallet-operations';
import { ApiKeyEntity } from '../../../src/auth/entity';
import { newId } from '../../../src/platform/ids';
import { randomAddress } from '../../factories';
import { type Answer, type Fixture, buildFunded, buildTenant, createFixture, type Funded } from '../http/fixture';

/** Audit rows of operations. */

let fixture: Fixture;
beforeAll(async () => void (fixture = await createFixture()));
afterAll(() => fixture.close());

const list = (filter: Partial<Parameters<typeof listAuditLog>[1]> = {}) =>
  listAuditLog(fixture.database.manager, { limit: 1000, ...filter });
const recordOf = ({ action, outcome, actor_type, actor_id, client_id, subject_type, subject_id, detail }: AuditRow) => ({
  action,
  outcome,
  actor: `${actor_type} ${actor_id}`,
  client_id,
  subject: `${subject_type} ${subject_id}`,
  detail,
});
const operator = `operator ${currentOperator().id}`;

describe('operators', () => {
  test('clients, users and API keys', async () => {
    const operations = new ClientOperations(fixture.database);
    const { clientId } = await operations.createClient('audited');
    const { userId } = await operations.createUser('audited', 'someone');
    const { keyId, apiKey, apiSecret } = await operations.createKey('audited', 'someone');
    await operations.setUserStatus(userId, 'DISABLED');
    await operations.setUserStatus(userId, 'ACTIVE');
    await operations.setClientStatus('audited', 'DISABLED');
    await operations.setClientStatus('audited', 'ACTIVE');
    await operations.revokeKey(apiKey);
    // a repeated call has no effect
    await operations.revokeKey(keyId);

    const [client, user, key] = [`client ${clientId}`, `user ${userId}`, `api_key ${keyId}`];
    const ofKey = { user_id: userId, api_key: apiKey };
    const rows = (await list({ clientId })).reverse();
    expect(rows.map(recordOf)).toEqual(
      (
        [
          ['client.created', client, { name: 'audited' }],
          ['user.created', user, { name: 'someone' }],
          ['api_key.created', key, ofKey],
          ['user.disabled', user, { before: 'ACTIVE' }],
          ['user.enabled', user, { before: 'DISABLED' }],
          ['client.disabled', client, { before: 'ACTIVE' }],
          ['client.enabled', client, { before: 'DISABLED' }],
          ['api_key.revoked', key, ofKey],
        ] as const
      ).map(([action, subject, detail]) => ({
        action,
        outcome: 'success',
        actor: operator,
        client_id: clientId,
        subject,
        detail,
      })),
    );
    expect(JSON.stringify(rows)).not.toContain(apiSecret);
  });

  test('wallets, their limits and accounts', async () => {
    const { wallet, account } = await buildFunded(fixture, fixture.other);
    const operations = new WalletOperations(fixture.database);
    const { walletId } = wallet;
    await operations.suspend(walletId);
    await operations.suspend(walletId);
    await operations.resume(walletId);
    await operations.setLimit(walletId, 'ETH', { maxSingle: '1.5' });
    await operations.setLimit(walletId, 'ETH', { maxSingle: 'none', maxDaily: '3' });
    await operations.clearLimit(walletId, 'ETH');
    await operations.setAccountStatus(account.accountId, 'INACTIVE');
    await operations.setAccountStatus(account.accountId, 'ACTIVE');

    const ofWallet = (await list({ subject: walletId })).reverse().map(recordOf);
    expect(ofWallet.map(({ action, detail }) => [action, detail])).toEqual([
      ['wallet.suspended', {}],
      ['wallet.resumed', {}],
      ['wallet.limit_changed', { symbol: 'ETH', max_single: '1.5' }],
      ['wallet.limit_changed', { symbol: 'ETH', max_single: null, max_daily: '3' }],
      ['wallet.limit_changed', { symbol: 'ETH', max_single: null, max_daily: null }],
    ]);
    for (const row of ofWallet)
      expect(row).toMatchObject({ actor: operator, client_id: fixture.other.clientId, subject: `wallet ${walletId}` });
    expect((await list({ subject: account.accountId })).reverse().map(({ action }) => action)).toEqual([
      'account.disabled',
      'account.enabled',
    ]);
  });

  test('a refused or failed operation leaves neither the change nor a row', async () => {
    const operations = new ClientOperations(fixture.database);
    await operations.createClient('taken');
    const before = (await list()).length;
    await expect(operations.createClient('taken')).rejects.toMatchObject({ code: 'business_error' });
    await expect(operations.createUser('taken', '')).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect(await list()).toHaveLength(before);

    await operations.createUser('taken', 'someone');
    await fixture.database.query('alter table audit_events rename to audit_events_away');
    try {
      await expect(operations.createKey('taken', 'someone')).rejects.toThrow();
    } finally {
      await fixture.database.query('alter table audit_events_away rename to audit_events');
    }
    expect(await operations.listKeys('taken')).toEqual([]);
  });

  test('GATEWAY_OPERATOR is the name of the operator', () => {
    process.env.GATEWAY_OPERATOR = ' ann ';
    expect(currentOperator()).toEqual({ type: 'operator', id: 'ann' });
    delete process.env.GATEWAY_OPERATOR;
    expect(currentOperator().id).not.toBe('');
  });
});

describe('clients', () => {
  const recipient = randomAddress();
  const usdc = ({ account }: Funded, amount: string) => ({
    from_address: account.address,
    to_address: recipient,
    chain: 'ethereum',
    token_symbol: 'USDC',
    amount,
  });
  const creations = {
    'wallet.created': {
      path: '/wallets',
      body: () => ({ wallet_name: 'on record' }),
      row: ({ body }: Answer) => [`wallet ${body['wallet_id']}`, { name: 'on record' }],
    },
    'account.created': {
      path: '/accounts',
      body: ({ wallet }: Funded) => ({ wallet_id: wallet.walletId, chain: 'ethereum' }),
      row: ({ body }: Answer, { wallet }: Funded) => [
        `account ${body['account_id']}`,
        { wallet_id: wallet.walletId, chain: 'ethereum', address: body['address'] },
      ],
    },
    'asset.added': {
      path: '/assets',
      body: ({ account }: Funded) => ({ account_id: account.accountId, chain: 'base', symbol: 'USDC' }),
      row: ({ body }: Answer, { account }: Funded) => [
        `asset ${body['asset_id']}`,
        { account_id: account.accountId, chain: 'base', symbol: 'USDC' },
      ],
    },
    'transfer.accepted': {
      path: '/transfer',
      body: (funded: Funded) => usdc(funded, '1.50'),
      row: ({ body }: Answer) => [
        `transaction ${body['tx_id']}`,
        { chain: 'ethereum', symbol: 'USDC', amount: '1.5', to_address: recipient },
      ],
    },
  };
  const acts = Object.keys(creations) as (keyof typeof creations)[];

  test.each(acts)('%s: by whom, what and by which request; once, however often it is tried', async (action) => {
    const { path, body, row } = creations[action];
    const tenant = await buildTenant(fixture);
    const funded = await buildFunded(fixture, tenant);
    const [requestId, key] = [newId(), newId()];
    const ask = (id: string) =>
      fixture.call('POST', path, {
        tenant,
        body: body(funded),
        headers: { 'Idempotency-Key': key, 'X-Request-Id': id },
      });
    const first = await ask(requestId);
    expect([201, 202]).toContain(first.status);
    // simulates a crash of the first try before its answer was stored: the act is run again
    const [, forgotten] = await fixture.database.query<[unknown, number]>(
      `update idempotency_keys set response_status = null, response_headers = null, response_body = null,
              leased_until = now() - interval '1 second' where key = $1`,
      [key],
    );
    expect(forgotten).toBe(1);
    expect((await ask(newId())).status).toBe(first.status);

    const [subject, detail] = row(first, funded);
    const rows = await list({ action, clientId: tenant.clientId });
    expect(rows.map((one) => ({ ...recordOf(one), request: one.request_id }))).toEqual([
      {
        action,
        outcome: 'success',
        actor: `user ${tenant.userId}`,
        client_id: tenant.clientId,
        subject,
        detail,
        request: requestId,
      },
    ]);
  });

  test.each(acts)('%s: without its row it is not done', async (action) => {
    const tenant = await buildTenant(fixture);
    const funded = await buildFunded(fixture, tenant);
    const counted = () =>
      fixture.database.query<object[]>(
        `select (select count(*) from wallets where client_id = $1) as wallets,
                (select count(*) from accounts where client_id = $1) as accounts,
                (select count(*) from assets where client_id = $1) as assets,
                (select count(*) from transactions where client_id = $1 and transaction_type = 'OUTBOUND') as transfers`,
        [tenant.clientId],
      );
    const before = await counted();
    await fixture.database.query('alter table audit_events rename to audit_events_away');
    try {
      const { path, body } = creations[action];
      expect((await fixture.call('POST', path, { tenant, body: body(funded) })).status).toBe(500);
    } finally {
      await fixture.database.query('alter table audit_events_away rename to audit_events');
    }
    expect(await counted()).toEqual(before);
  });

  test('a transfer that is not accepted has no such row', async () => {
    const tenant = await buildTenant(fixture);
    const body = usdc(await buildFunded(fixture, tenant), '1000.01');
    expect((await fixture.call('POST', '/transfer', { tenant, body })).status).toBe(400);
    expect(await list({ action: 'transfer.accepted', clientId: tenant.clientId })).toEqual([]);
  });
});

describe('logins', () => {
  let address = 0;
  const login = async (apiKey: string, apiSecret: string) => {
    const requestId = newId();
    const from = `203.0.113.${(address += 1)}`;
    const headers = { 'X-API-Key': apiKey, 'X-API-Secret': apiSecret, 'X-Forwarded-For': from, 'X-Request-Id': requestId };
    const { status } = await fixture.call('POST', '/auth/token', { tenant: null, headers });
    const rows = (await list()).filter((row) => row.request_id === requestId);
    return { status, from, rows: rows.map(recordOf) };
  };

  test('a token that is issued', async () => {
    const { clientId, userId, keyId, apiKey, apiSecret } = await buildTenant(fixture);
    const { status, from, rows } = await login(apiKey, apiSecret);
    expect([status, rows]).toEqual([
      200,
      [
        {
          action: 'auth.token_issued',
          outcome: 'success',
          actor: `user ${userId}`,
          client_id: clientId,
          subject: `api_key ${keyId}`,
          detail: { address: from },
        },
      ],
    ]);
  });

  test('a failure of a known key, with its reason', async () => {
    const operations = new ClientOperations(fixture.database);
    const disable = {
      wrong_secret: () => Promise.resolve(),
      client_disabled: (tenant: { clientId: string }) => operations.setClientStatus(tenant.clientId, 'DISABLED'),
      user_disabled: (tenant: { userId: string }) => operations.setUserStatus(tenant.userId, 'DISABLED'),
      key_revoked: (tenant: { keyId: string }) =>
        fixture.database.manager.update(ApiKeyEntity, { keyId: tenant.keyId }, { revokedAt: new Date() }),
    };
    for (const [reason, work] of Object.entries(disable)) {
      const tenant = await buildTenant(fixture);
      await work(tenant);
      const { status, from, rows } = await login(tenant.apiKey, reason === 'wrong_secret' ? 'gs_wrong' : tenant.apiSecret);
      expect([status, rows]).toEqual([
        401,
        [
          {
            action: 'auth.failed',
            outcome: 'refused',
            actor: `user ${tenant.userId}`,
            client_id: tenant.clientId,
            subject: `api_key ${tenant.keyId}`,
            detail: { address: from, reason },
          },
        ],
      ]);
      // the state of the key is shown only to callers who know its secret
      expect((await login(tenant.apiKey, 'gs_wrong')).rows[0]?.detail).toMatchObject({ reason: 'wrong_secret' });
    }
  });

  test('an unknown key is recorded as a short hash: it may be a secret in the wrong header', async () => {
    const misplaced = 'gs_a-secret-given-as-key';
    const first = await login(misplaced, 'x');
    const second = await login(misplaced, 'y');
    expect(first.rows).toEqual([
      {
        action: 'auth.failed',
        outcome: 'refused',
        actor: 'user unknown',
        client_id: null,
        subject: expect.stringMatching(/^api_key sha256:[0-9a-f]{16}$/),
        detail: { address: first.from, reason: 'unknown_key' },
      },
    ]);
    expect(second.rows[0]?.subject).toBe(first.rows[0]?.subject);
    expect(JSON.stringify(await list())).not.toContain(misplaced);
  });

  test('requests that the throttle refuses are not recorded: the log cannot be flooded', async () => {
    // a new key each time: only the counter of the address refuses the eleventh
    const headers = () => ({ 'X-API-Key': newId(), 'X-API-Secret': 'x', 'X-Forwarded-For': '192.0.2.77' });
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => fixture.call('POST', '/auth/token', { tenant: null, headers: headers() })),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    const rows = (await list({ action: 'auth.failed' })).filter(({ detail }) => detail.address === '192.0.2.77');
    expect(rows).toHaveLength(10);
  });

  test('without its row no token is issued', async () => {
    await fixture.database.query('alter table audit_events rename to audit_events_away');
    try {
      const headers = { 'X-API-Key': fixture.demo.apiKey, 'X-API-Secret': fixture.demo.apiSecret };
      const { status, body } = await fixture.call('POST', '/auth/token', { tenant: null, headers });
      expect([status, body['token']]).toEqual([500, undefined]);
    } finally {
      await fixture.database.query('alter table audit_events_away rename to audit_events');
    }
  });
});

describe('the list', () => {
  test('filters by action, actor, subject, outcome and time, newest first', async () => {
    const operations = new ClientOperations(fixture.database);
    const { clientId } = await operations.createClient('listed');
    await operations.setClientStatus('listed', 'DISABLED');
    const [disabled, created] = await list({ clientId });
    expect([disabled?.action, created?.action]).toEqual(['client.disabled', 'client.created']);
    expect(await list({ clientId, action: 'client.created' })).toEqual([created]);
    expect(await list({ clientId, actor: currentOperator().id })).toHaveLength(2);
    expect(await list({ clientId, actor: 'nobody' })).toEqual([]);
    expect(await list({ subject: clientId })).toHaveLength(2);
    expect(await list({ clientId, outcome: 'refused' })).toEqual([]);
    expect(await list({ clientId, limit: 1 })).toEqual([disabled]);
    expect(await list({ clientId, until: created?.at as Date })).toEqual([]);
    expect(await list({ clientId, since: new Date(Number(disabled?.at) + 1) })).toEqual([]);
    expect(await list({ clientId, since: created?.at as Date, until: new Date(Number(disabled?.at) + 1) })).toHaveLength(2);
  });
});
