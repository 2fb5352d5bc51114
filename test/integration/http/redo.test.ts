import type { DataSource } from 'typeorm';
import { type RedoOptions, findRedoable, readRedoable, redoTransfer, type RedoResult } from '../../../src/cli/redo-operations';
import { GatewayError } from '../../../src/platform/errors';
import { newId } from '../../../src/platform/ids';
import { hashRequest } from '../../../src/transfers/accept/hash-request';
import { endRedoRequest } from '../../../src/transfers/redo/requests';
import { type StoredEvent, toPayload } from '../../../src/webhooks/events';
import { explain } from '../../explained';
import { randomAddress } from '../../factories';
import { refuseAttempt } from '../../refusals';
import { openDatabase } from '../../stack/database';
import { buildFunded, buildTenant, createFixture, expectProblem, type Fixture, type Funded, type Tenant } from './fixture';

/** A transfer that has ended without paying is made once more: by an operator's request, by its client, or by both at once. */

let fixture: Fixture;
let asOperator: DataSource;
let tenant: Tenant;
let funded: Funded;
beforeAll(async () => {
  fixture = await createFixture({ poolSize: 20 });
  asOperator = await openDatabase((await fixture.logins()).gateway_operator);
});
beforeEach(async () => {
  tenant = await buildTenant(fixture);
  funded = await buildFunded(fixture, tenant);
});
afterAll(async () => {
  await asOperator.destroy();
  await fixture.close();
});

const query = <T = Record<string, unknown>>(sql: string, values: unknown[] = []) => fixture.database.query<T[]>(sql, values);
const bodyOf = (changes: object = {}) => ({
  ...{ from_address: funded.account.address, to_address: randomAddress(), chain: 'ethereum', token_symbol: 'USDC', amount: '1' },
  ...changes,
});
const send = (body: object, key?: string, by = tenant) =>
  fixture.call('POST', '/transfer', { tenant: by, body, headers: key === undefined ? {} : { 'Idempotency-Key': key } });
const accepted = async (body: object): Promise<string> => {
  const answer = await send(body);
  expect(answer.status).toBe(202);
  return String(answer.body['tx_id']);
};
const failed = async (body: object = bodyOf()): Promise<string> => {
  const txId = await accepted(body);
  await refuseAttempt(fixture.database, { txId }, { kind: 'chain', code: 'would_revert', reason: 'of a test' });
  expect(await fixture.workflows.ledger.endTransfer({ txId })).toMatchObject({ status: 'FAILED' });
  return txId;
};
const show = async (txId: string) => (await fixture.call('GET', `/transactions/${txId}`, { tenant })).body;
/** What one copy of the API does by itself. */
const carryOut = () => fixture.resources.housekeeping.find(({ name }) => name.startsWith('redo'))?.run();
/** As `gateway transfers redo`, with the API carrying it out beside. */
async function redo(txId: string, options: RedoOptions = {}): Promise<RedoResult> {
  const { tx, made, refusal } = await readRedoable(asOperator.manager, txId, options);
  if (made) return { outcome: 'redone', newTxId: made.txId, waitsFor: null };
  if (refusal) throw refusal;
  // longer than a request that failed is left to whoever has taken it
  const asked = redoTransfer({ database: asOperator, waitMs: 45_000, reason: 'of a test' }, tx);
  let isOver = false;
  const [outcome] = await Promise.allSettled([asked.finally(() => (isOver = true)), until(() => isOver)]);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}
async function until(isOver: () => boolean): Promise<void> {
  while (!isOver()) await carryOut();
}
const newOf = async (txId: string): Promise<string> => {
  const { outcome, newTxId } = await redo(txId);
  expect([outcome, typeof newTxId]).toEqual(['redone', 'string']);
  return String(newTxId);
};
const locked = async (symbol = 'USDC'): Promise<string> => {
  const [row] = await query<{ locked: string }>('select locked from ledger_accounts where client_id = $1 and symbol = $2', [
    tenant.clientId,
    symbol,
  ]);
  return row?.locked ?? '';
};
const countOf = async () => (await query('select from transactions where client_id = $1 and is_held', [tenant.clientId])).length;

describe('an operator', () => {
  test('gets a new transfer of what the old one was to move, which is linked with it, held and started', async () => {
    const body = bodyOf({ external_id: newId(), memo: 'rent' });
    const txId = await failed(body);
    expect(await locked()).toBe('0');
    const newTxId = await newOf(txId);
    expect(await show(newTxId)).toMatchObject({
      ...{ from_address: body.from_address, to_address: body.to_address, token_symbol: 'USDC', amount: '1', memo: 'rent' },
      ...{ status: 'PENDING', external_id: null, retry_of: txId, client_id: tenant.clientId },
    });
    expect(await show(txId)).toMatchObject({ status: 'FAILED', retry_of: null });
    expect(await locked()).toBe('1000000');
    await fixture.resources.outbox.settled();
    expect(fixture.workflows.started).toContain(newTxId);
    const found = await fixture.call('GET', `/transactions?retry_of=${txId}`, { tenant });
    expect(found.body).toMatchObject({ data: [{ tx_id: newTxId, retry_of: txId }], total: 1 });
    for (const [value, by] of [[txId, fixture.other] as const, ['nope', tenant] as const, [newTxId, tenant] as const])
      expect((await fixture.call('GET', `/transactions?retry_of=${value}`, { tenant: by })).body).toMatchObject({ total: 0 });
  });

  test('has the client told of it, with the link', async () => {
    // events are written for clients that have an endpoint
    await query(
      `insert into webhook_endpoints (webhook_id, client_id, url, secret, secret_created_by) values ($1, $2, 'https://example.com', '\\x00', $1)`,
      [newId(), tenant.clientId],
    );
    const txId = await failed();
    const newTxId = await newOf(txId);
    const [event] = await query<StoredEvent & { created_at: Date }>(
      `select kind, snapshot, created_at from webhook_events where subject_id = $1 and kind = 'transaction.created'`,
      [newTxId],
    );
    if (!event) throw new Error('nobody is told');
    const { data } = JSON.parse(toPayload({ ...event, createdAt: event.created_at }, true)) as { data: object };
    expect(data).toMatchObject({ tx_id: newTxId, retry_of: txId, status: 'PENDING' });
  });

  test('is the one who is audited; the requester is the one of the old transfer', async () => {
    const txId = await failed();
    const newTxId = await newOf(txId);
    expect(
      await query(
        `select action, actor_type, detail from audit_events where subject_id = any($1) and actor_type = 'operator' order by at`,
        [[txId, newTxId]],
      ),
    ).toEqual([
      { action: 'transfer.redo_requested', actor_type: 'operator', detail: { status: 'FAILED', stated_reason: 'of a test' } },
      { action: 'transfer.redone', actor_type: 'operator', detail: expect.objectContaining({ retry_of: txId, amount: '1' }) },
    ]);
    expect(await query('select requested_by from transactions where tx_id = $1', [newTxId])).toEqual([
      { requested_by: tenant.userId },
    ]);
  });

  test('gets the same one when the command is repeated, and a redo can be redone', async () => {
    const txId = await failed();
    const newTxId = await newOf(txId);
    expect(await newOf(txId)).toBe(newTxId);
    await fixture.call('POST', `/transactions/${newTxId}/cancel`, { tenant });
    expect(await newOf(txId)).toBe(newTxId);
    const third = await newOf(newTxId);
    expect(await show(third)).toMatchObject({ retry_of: newTxId, status: 'PENDING' });
    expect(await locked()).toBe('1000000');
  });

  test('is shown it by explain, which offers it once', async () => {
    const txId = await failed();
    expect((await explain({ database: asOperator }, txId)).actions).toContainEqual(
      expect.objectContaining({ name: 'redo', by: 'operator', command: `gateway transfers redo ${txId}` }),
    );
    const newTxId = await newOf(txId);
    const explained = await explain({ database: asOperator }, txId);
    expect(explained).toMatchObject({ transaction: { retried_by: newTxId }, actions: [] });
    expect(await explain({ database: asOperator }, newTxId)).toMatchObject({ transaction: { retry_of: txId, retried_by: null } });
  });

  test('finds those that have ended with a code, of one client or of all, and none that was redone', async () => {
    const [first, second, third] = [await failed(), await failed(), await failed()];
    await newOf(second);
    const filter = { code: 'would_revert', sinceMs: 3_600_000, clientId: tenant.clientId, limit: 10 };
    const ids = async (changes: object = {}) =>
      (await findRedoable(asOperator.manager, { ...filter, ...changes })).map(({ tx }) => tx.txId);
    expect(await ids()).toEqual([first, third]);
    expect(await ids({ limit: 1 })).toEqual([first]);
    expect(await ids({ code: 'stuck' })).toEqual([]);
    expect(await ids({ clientId: fixture.other.clientId })).toEqual([]);
    expect(await ids({ clientId: undefined, limit: 1_000 })).toEqual(expect.arrayContaining([first, third]));
  });

  test('has to say so where the client has paid the same since then, under a key of its own', async () => {
    const body = bodyOf();
    const txId = await failed(body);
    const again = await accepted(body);
    await expect(redo(txId)).rejects.toMatchObject({ code: 'business_error', message: expect.stringContaining(again) });
    expect(await redo(txId, { despiteSimilar: true })).toMatchObject({ outcome: 'redone' });
    expect(await locked()).toBe('2000000');
  });

  test('has to say so too where that one has ended and was redone; not where it was ordered before the end', async () => {
    const body = bodyOf();
    const [txId, beside] = [await accepted(body), await accepted(body)];
    for (const each of [txId, beside]) {
      await refuseAttempt(fixture.database, { txId: each }, { kind: 'chain', code: 'would_revert', reason: 'of a test' });
      await fixture.workflows.ledger.endTransfer({ txId: each });
    }
    await newOf(beside);
    expect((await readRedoable(asOperator.manager, txId)).refusal).toBeNull();
    const again = await newOf(await failed(body));
    await expect(redo(txId)).rejects.toMatchObject({ code: 'business_error', message: expect.stringContaining(again) });
  });
});

describe('the rules are those of POST /transfer at that moment', () => {
  const refusalOf = async (txId: string): Promise<string> => {
    const { code } = (await redo(txId).then(
      () => ({ code: 'none' }),
      (error: unknown) => error,
    )) as { code: string };
    return code;
  };
  test.each<[string, string, () => Promise<unknown>]>([
    [
      'a suspended wallet',
      'wallet_not_active',
      () => query(`update wallets set status = 'SUSPENDED' where client_id = $1`, [tenant.clientId]),
    ],
    [
      'a disabled account',
      'account_not_active',
      () => query(`update accounts set status = 'INACTIVE' where client_id = $1`, [tenant.clientId]),
    ],
    [
      'a disabled client',
      'business_error',
      () => query(`update clients set status = 'DISABLED' where client_id = $1`, [tenant.clientId]),
    ],
    [
      'a disabled user',
      'business_error',
      () => query(`update users set status = 'DISABLED' where client_id = $1`, [tenant.clientId]),
    ],
    [
      'a limit',
      'business_error',
      () =>
        query(`insert into wallet_limits (wallet_id, symbol, max_single) values ($1, 'USDC', 0.5)`, [funded.account.walletId]),
    ],
    [
      'the whitelist',
      'address_not_whitelisted',
      () => query(`update clients set whitelist_mode = 'only' where client_id = $1`, [tenant.clientId]),
    ],
    [
      'a frozen asset',
      'business_error',
      () => query(`update ledger_accounts set frozen_reason = 'x' where client_id = $1`, [tenant.clientId]),
    ],
  ])('%s: %s, and nothing is stored', async (_, code, change) => {
    const txId = await failed();
    await change();
    expect(await refusalOf(txId)).toBe(code);
    expect([await locked(), await countOf()]).toEqual(['0', 1]);
    expect(
      await query(
        `select outcome, actor_type, detail ->> 'code' as code from audit_events where action = 'transfer.redone' and subject_id = $1`,
        [txId],
      ),
    ).toEqual([{ outcome: 'refused', actor_type: 'operator', code }]);
  });

  test('a balance that does not suffice; asked for again once it does', async () => {
    const txId = await failed(bodyOf({ amount: '600' }));
    const other = await accepted(bodyOf({ amount: '600' }));
    expect(await refusalOf(txId)).toBe('insufficient_balance');
    await fixture.call('POST', `/transactions/${other}/cancel`, { tenant });
    expect(await show(await newOf(txId))).toMatchObject({ amount: '600', retry_of: txId });
  });

  test('the need for an approval', async () => {
    const txId = await failed();
    await query(`update clients set whitelist_mode = 'approve' where client_id = $1`, [tenant.clientId]);
    expect(await show(await newOf(txId))).toMatchObject({ status: 'AWAITING_APPROVAL', retry_of: txId });
  });

  test('one that was REJECTED, since nobody has approved it in time, is redone by the rules of now', async () => {
    await query(`update clients set whitelist_mode = 'approve' where client_id = $1`, [tenant.clientId]);
    const txId = await accepted(bodyOf());
    expect(await show(txId)).toMatchObject({ status: 'AWAITING_APPROVAL' });
    await fixture.database.transaction(async (manager) => {
      await manager.query('set local session_replication_role = replica');
      await manager.query(`update transactions set approval_expires_at = now() - interval '1 second' where tx_id = $1`, [txId]);
    });
    expect(await fixture.workflows.ledger.screenTransfer({ txId })).toMatchObject({ outcome: 'refused' });
    await fixture.workflows.ledger.endTransfer({ txId });
    expect(await show(txId)).toMatchObject({ status: 'REJECTED', failure: { code: 'approval_expired' } });
    await query(`update clients set whitelist_mode = 'off' where client_id = $1`, [tenant.clientId]);
    expect(await show(await newOf(txId))).toMatchObject({ status: 'PENDING', retry_of: txId });
  });

  test('what may still pay, has paid, or is no transfer is not redone', async () => {
    const txId = await accepted(bodyOf());
    expect(await refusalOf(txId)).toBe('business_error');
    await expect(redo(txId)).rejects.toThrow(/it is PENDING, and may still pay/);
    await expect(redo(newId())).rejects.toMatchObject({ code: 'not_found' });
    expect(await countOf()).toBe(1);
  });

  test('what is refused only for now is made when it can be, or refused after ten minutes', async () => {
    const [first, second] = [await failed(), await failed()];
    const stale = `update chain_cursors set fee_levels_at = now() - interval '1 hour'`;
    await query(stale);
    const ask = async (txId: string) =>
      redoTransfer({ database: asOperator, waitMs: 0 }, (await readRedoable(asOperator.manager, txId)).tx);
    await ask(first);
    await ask(second);
    await carryOut();
    expect(await ask(first)).toMatchObject({ outcome: 'requested', waitsFor: expect.stringMatching(/^chain_unavailable: /) });
    await fixture.database.transaction(async (manager) => {
      await manager.query('set local session_replication_role = replica');
      await manager.query(`update redo_requests set attempting_until = '-infinity'`);
      await manager.query(`update redo_requests set requested_at = now() - interval '11 minutes' where tx_id = $1`, [second]);
    });
    await carryOut();
    await expect(ask(second)).resolves.toMatchObject({ outcome: 'requested' });
    expect(await query(`select failure_code from redo_requests where tx_id = $1 and ended_at is not null`, [second])).toEqual([
      { failure_code: 'chain_unavailable' },
    ]);
    await query('update chain_cursors set fee_levels_at = now()');
    expect(await show(await newOf(first))).toMatchObject({ retry_of: first });
    await newOf(second);
  });
});

test('what the API could not look at for ten minutes is refused, and made when it is asked for again', async () => {
  const txId = await failed();
  await redoTransfer({ database: asOperator, waitMs: 0 }, (await readRedoable(asOperator.manager, txId)).tx);
  await fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query(`update redo_requests set requested_at = now() - interval '11 minutes' where tx_id = $1`, [txId]);
  });
  await carryOut();
  expect(await query('select new_tx_id, failure_code, failure_message from redo_requests where tx_id = $1', [txId])).toEqual([
    { new_tx_id: null, failure_code: 'unavailable', failure_message: expect.stringContaining('10 minutes') },
  ]);
  expect(await countOf()).toBe(1);
  await newOf(txId);
});

describe('money is paid once', () => {
  test('by an operator after its client has sent it again with the key redo-<tx_id>, under whatever name', async () => {
    const body = bodyOf({ memo: 'rent' });
    const txId = await failed(body);
    const again = await send({ ...body, external_id: newId(), memo: 'rent, again' }, `redo-${txId}`);
    expect(again.status).toBe(202);
    expect(await show(String(again.body['tx_id']))).toMatchObject({ retry_of: txId });
    expect(await newOf(txId)).toBe(again.body['tx_id']);
    expect(await countOf()).toBe(2);
  });

  test('by its client with that key after an operator, also where the key was refused before', async () => {
    const body = bodyOf({ amount: '600', external_id: newId() });
    const txId = await failed(body);
    const other = await accepted(bodyOf({ amount: '600' }));
    const renamed = { ...body, external_id: newId() };
    expectProblem(await send(renamed, `redo-${txId}`), 400, 'insufficient_balance');
    await fixture.call('POST', `/transactions/${other}/cancel`, { tenant });
    const newTxId = await newOf(txId);
    const again = await send(renamed, `redo-${txId}`);
    expect([again.status, again.body['tx_id'], again.headers.get('idempotency-replayed')]).toEqual([202, newTxId, 'true']);
    expect(await locked()).toBe('600000000');
  });

  test('by one of both at once, and by one of several operators and copies of the API at once', async () => {
    for (let round = 0; round < 6; round += 1) {
      const body = bodyOf();
      const txId = await failed(body);
      const before = await countOf();
      const made = await Promise.all([
        newOf(txId),
        send(body, `redo-${txId}`).then((answer) => String(answer.body['tx_id'])),
        newOf(txId),
        carryOut(),
      ]);
      expect(new Set(made.slice(0, 3)).size).toBe(1);
      expect(await countOf()).toBe(before + 1);
      expect(await query('select from transactions where retry_of = $1', [txId])).toHaveLength(1);
    }
  });

  test.each([
    ['its id in capital letters', (txId: string) => `redo-${txId.toUpperCase()}`],
    ['another spelling', (txId: string) => `Redo-${txId}`],
  ])('not under a second key, with %s: it is refused, and the next one is good', async (_how, spell) => {
    const body = bodyOf();
    const txId = await failed(body);
    const refused = await send(body, spell(txId));
    expectProblem(refused, 400, 'invalid_parameter', 'Idempotency-Key');
    expect(refused.text).toContain(`redo-${txId}`);
    expect(await countOf()).toBe(1);
    expect(await newOf(txId)).toBe((await send(body, `redo-${txId}`)).body['tx_id']);
    expect(await countOf()).toBe(2);
  });

  test('not by an operator where the client has used the key for something else; nor is that linked', async () => {
    const body = bodyOf();
    const txId = await failed(body);
    const other = await send({ ...body, amount: '2' }, `redo-${txId}`);
    expect(await show(String(other.body['tx_id']))).toMatchObject({ retry_of: null, amount: '2' });
    await fixture.call('POST', `/transactions/${String(other.body['tx_id'])}/cancel`, { tenant });
    await expect(redo(txId)).rejects.toMatchObject({
      code: 'idempotency_key_reused',
      message: expect.stringContaining(`redo-${txId}`),
    });
    expect(await explain({ database: asOperator }, txId)).toMatchObject({ transaction: { retried_by: null } });
  });

  test('by what was rebuilt after a restore, of whose key only the hash is known', async () => {
    const txId = await failed();
    const newTxId = await newOf(txId);
    await fixture.database.transaction(async (manager) => {
      await manager.query('set local session_replication_role = replica');
      await manager.query('delete from redo_requests where tx_id = $1', [txId]);
      await manager.query(
        'update transactions set idempotency_key = null, retry_of = null, requested_by = null where tx_id = $1',
        [newTxId],
      );
      await manager.query('insert into rebuilt_requests (request, tx_id) values ($1, $2)', [
        hashRequest(tenant.clientId, `redo-${txId}`),
        newTxId,
      ]);
    });
    expect(await explain({ database: asOperator }, txId)).toMatchObject({ transaction: { retried_by: newTxId }, actions: [] });
    const filter = { code: 'would_revert', sinceMs: 3_600_000, clientId: tenant.clientId, limit: 10 };
    expect(await findRedoable(asOperator.manager, filter)).toEqual([]);
    const { tx } = await readRedoable(asOperator.manager, txId);
    await redoTransfer({ database: asOperator, waitMs: 0 }, tx);
    await carryOut();
    expect(await query('select new_tx_id from redo_requests where tx_id = $1', [txId])).toEqual([{ new_tx_id: newTxId }]);
    expect(await countOf()).toBe(2);
  });

  test('not by a copy of the API whose lease is over, once the operator was told of a refusal', async () => {
    const txId = await failed();
    const { tx } = await readRedoable(asOperator.manager, txId);
    await redoTransfer({ database: asOperator, waitMs: 0 }, tx);
    const [request] = await query<{ request_id: string }>('select request_id from redo_requests where tx_id = $1', [txId]);
    const slow = await fixture.database.transaction(async (manager) => {
      // its row refers to the old one, and waits for it
      await manager.query('select from transactions where tx_id = $1 for update', [txId]);
      const carriedOut = carryOut();
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      while ((await query(waiting)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      const refusal = new GatewayError('insufficient_balance', 'of a test');
      expect(await endRedoRequest(fixture.database.manager, String(request?.request_id), refusal)).toBe(true);
      return { carriedOut };
    });
    await slow.carriedOut;
    expect([await countOf(), await locked()]).toEqual([1, '0']);
    expect(await query('select new_tx_id from redo_requests where tx_id = $1', [txId])).toEqual([{ new_tx_id: null }]);
    expect(await show(await newOf(txId))).toMatchObject({ retry_of: txId });
  });

  test('by another client nothing is linked, and no key of a transfer that has paid or may pay links anything', async () => {
    const body = bodyOf();
    const txId = await accepted(body);
    const early = await send(body, `redo-${txId}`);
    expect(await show(String(early.body['tx_id']))).toMatchObject({ retry_of: null });
    const ended = await failed();
    const stranger = await buildTenant(fixture);
    const theirs = await buildFunded(fixture, stranger);
    const answer = await send({ ...body, from_address: theirs.account.address }, `redo-${ended}`, stranger);
    expect(await query('select retry_of from transactions where tx_id = $1', [answer.body['tx_id']])).toEqual([
      { retry_of: null },
    ]);
  });
});

describe('the logins', () => {
  test('an operator’s inserts a request and nothing else, and answers none', async () => {
    const txId = await failed();
    const asked = `insert into redo_requests (tx_id, operator) values ($1, 'mallory')`;
    for (const sql of [
      `insert into redo_requests (tx_id, operator, new_tx_id, ended_at) values ($1, 'mallory', $1, now())`,
      `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, from_address, to_address, to_address_key,
         token_symbol, contract_address, decimals, amount, fee_symbol, fee_decimals, status, required_confirmations, retry_of)
       select gen_random_uuid(), client_id, wallet_id, account_id, asset_id, chain, transaction_type, from_address, to_address, to_address_key,
         token_symbol, contract_address, decimals, amount, fee_symbol, fee_decimals, 'PENDING', 1, tx_id from transactions where tx_id = $1`,
    ])
      await expect(asOperator.query(sql, [txId])).rejects.toMatchObject({ driverError: { code: '42501' } });
    await asOperator.query(asked, [txId]);
    for (const sql of [
      `update redo_requests set new_tx_id = tx_id, ended_at = now() where tx_id = $1`,
      `update redo_requests set attempting_until = 'infinity' where tx_id = $1`,
      `delete from redo_requests where tx_id = $1`,
    ])
      await expect(asOperator.query(sql, [txId])).rejects.toMatchObject({ driverError: { code: '42501' } });
    await expect(asOperator.query(asked, [txId])).rejects.toMatchObject({ driverError: { code: '23505' } });
    await carryOut();
    const open = await accepted(bodyOf());
    await expect(asOperator.query(asked, [open])).rejects.toThrow(/may not be redone/);
  });

  test('the API’s asks for nothing, answers once, and links only what moves the same', async () => {
    const { apiDatabase: api } = fixture;
    const txId = await failed();
    await expect(api.query(`insert into redo_requests (tx_id, operator) values ($1, 'x')`, [txId])).rejects.toMatchObject({
      driverError: { code: '42501' },
    });
    const newTxId = await newOf(txId);
    await expect(
      api.query(`update redo_requests set failure_code = 'stuck', failure_message = 'x' where tx_id = $1`, [txId]),
    ).rejects.toThrow(/written once/);
    await expect(fixture.database.query('update transactions set retry_of = null where tx_id = $1', [newTxId])).rejects.toThrow(
      /cannot change/,
    );
    const ended = await failed();
    const insert = (changes: string) =>
      api.query(
        `insert into transactions select (jsonb_populate_record(t, jsonb_build_object('tx_id', gen_random_uuid(), 'status', 'PENDING', 'version', 0,
           'ended_at', null, 'failure_code', null, 'failure_message', null, 'idempotency_key', null, 'retry_of', t.tx_id) || $2::jsonb)).*
           from transactions t where tx_id = $1`,
        [ended, changes],
      );
    for (const changes of ['{"amount": 2000000}', `{"to_address_key": "0x00"}`, `{"retry_of": "${newTxId}"}`])
      await expect(insert(changes)).rejects.toThrow(/does not redo transaction/);
  });
});
