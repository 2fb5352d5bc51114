import { newId } from '../../../src/platform/ids';
import { TransactionService } from '../../../src/transactions/service';
import { expireApprovals } from '../../../src/transfers/screen/approval-expiry';
import { buildTotp, randomAddress, totpCode, wrongChecksum } from '../../factories';
import { auditOf, listAddress, setPolicy, unlist } from '../screening/factors';
import { boxes, buildFunded, buildTenant, createFixture, expectProblem, type Fixture, type Funded, type Tenant } from './fixture';
import { buildColleague, freshCode } from './second-factor';

let fixture: Fixture;
let tenant: Tenant;
let funded: Funded;
let secret: string;
/** Unused codes of this test's user. */
let steps: number[];
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await buildTenant(fixture);
  funded = await buildFunded(fixture, tenant);
  secret = await buildTotp(fixture.database, boxes.totp, tenant);
  // the oldest last: it may leave the window while a test runs
  steps = [0, 1, -1];
  fixture.workflows.started = [];
  fixture.workflows.signalled = { approved: [], ended: [] };
});

const code = () => totpCode(secret, steps.shift());
const transfer = (to_address: string, headers: Record<string, string> = {}, changes: object = {}) =>
  fixture.call('POST', '/transfer', {
    tenant,
    headers,
    body: { from_address: funded.account.address, to_address, chain: 'ethereum', token_symbol: 'USDC', amount: '1', ...changes },
  });
const get = (txId: string) => fixture.call('GET', `/transactions/${txId}`, { tenant });
const auditRows = (to: string) => auditOf(fixture.database, 'transfer.refused', to);
const locked = async () => {
  const [row] = await fixture.database.query<{ locked: string }[]>(
    'select coalesce(sum(locked), 0) as locked from ledger_accounts where client_id = $1',
    [tenant.clientId],
  );
  return row?.locked;
};

describe('403 at once, with an audit row and nothing stored', () => {
  test.each<[string, (address: string) => string]>([
    ['with its checksum', (address) => address],
    ['in lower case', (address) => address.toLowerCase()],
    ['in upper case', (address) => `0x${address.slice(2).toUpperCase()}`],
  ])('a blacklisted address %s', async (_, spell) => {
    const address = randomAddress();
    await listAddress(fixture.database, tenant, spell(address));
    for (const asked of [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`]) {
      expectProblem(await transfer(asked), 403, 'address_blacklisted', 'to_address');
    }
    expect(await auditRows(address)).toHaveLength(3);
    expect((await auditRows(address))[0]).toMatchObject({
      outcome: 'refused',
      actor_type: 'user',
      actor_id: tenant.userId,
      client_id: tenant.clientId,
      detail: { code: 'address_blacklisted', chain: 'ethereum', from_address: funded.account.address, amount: '1' },
      request_id: expect.any(String),
    });
    await fixture.dispatch();
    expect(fixture.workflows.started).toEqual([]);
    expect(await locked()).toBe('0');
  });

  test.each<[string, (address: string) => string]>([
    ['the prefix 0X', (address) => `0X${address.slice(2)}`],
    ['a blank before', (address) => ` ${address}`],
    ['a blank after', (address) => `${address} `],
    ['a zero-width space after', (address) => `${address}\u200b`],
    ['a zero-width joiner inside', (address) => `${address.slice(0, 20)}\u200d${address.slice(20)}`],
    ['a wrong checksum', wrongChecksum],
    ['a digit too few', (address) => address.slice(0, -1)],
  ])('a blacklisted address with %s is none: 400', async (_, spell) => {
    const address = randomAddress();
    await listAddress(fixture.database, tenant, address);
    for (const to of [spell(address), spell(address.toLowerCase())])
      expectProblem(await transfer(to), 400, 'invalid_address', 'to_address');
    await fixture.dispatch();
    expect(fixture.workflows.started).toEqual([]);
    expect(await locked()).toBe('0');
  });

  test('policy `only` and an address that is not on the whitelist, until it is there for the cooling time', async () => {
    const address = randomAddress();
    await setPolicy(fixture.database, tenant, 'only', 3600);
    await listAddress(fixture.database, tenant, address, { type: 'WHITELIST' });
    expectProblem(await transfer(address), 403, 'address_not_whitelisted', 'to_address');
    expect(await auditRows(address)).toHaveLength(1);
    await setPolicy(fixture.database, tenant, 'only', 0);
    expect((await transfer(address)).status).toBe(202);
  });

  test('another client’s entries and policy do not matter', async () => {
    const address = randomAddress();
    await listAddress(fixture.database, fixture.other, address);
    await setPolicy(fixture.database, fixture.other, 'only');
    expect((await transfer(address)).status).toBe(202);
    await setPolicy(fixture.database, fixture.other, 'off');
  });

  test('an asset that is not the client’s stays 404', async () => {
    const address = randomAddress();
    await listAddress(fixture.database, tenant, address);
    expectProblem(await transfer(address, {}, { token_symbol: 'DOGE' }), 404, 'not_found');
    expect(await auditRows(address)).toEqual([]);
  });

  test('a repeated key gets the refusal again with one audit row; a transfer accepted before keeps its answer', async () => {
    const [address, later] = [randomAddress(), randomAddress()];
    const factorId = await listAddress(fixture.database, tenant, address);
    const headers = { 'idempotency-key': newId() };
    const refused = async () => {
      const answer = await transfer(address, headers);
      expect([answer.status, answer.body['code']]).toEqual([403, 'address_blacklisted']);
    };
    for (let i = 0; i < 2; i += 1) await refused();
    expect(await auditRows(address)).toHaveLength(1);
    await unlist(fixture.database, factorId);
    await refused();

    const accepted = { 'idempotency-key': newId() };
    const { body } = await transfer(later, accepted);
    await listAddress(fixture.database, tenant, later);
    // also after the stored answer was removed
    for (const forget of [false, true]) {
      if (forget) await fixture.database.query('delete from idempotency_keys');
      const again = await transfer(later, accepted);
      expect([again.status, again.body['tx_id']]).toEqual([202, body['tx_id']]);
    }
  });
});

describe('POST /transactions/{tx_id}/approve', () => {
  const approve = (txId: string, body: object = {}, as = tenant) =>
    fixture.call('POST', `/transactions/${txId}/approve`, { tenant: as, body });
  const waiting = async (): Promise<string> => {
    await setPolicy(fixture.database, tenant, 'approve');
    const txId = String((await transfer(randomAddress())).body['tx_id']);
    const { waitMs, ...verdict } = (await fixture.workflows.ledger.screenTransfer({ txId })) as { waitMs: number };
    expect(verdict).toEqual({ outcome: 'awaiting_approval' });
    expect(waitMs).toBeGreaterThan(86_000_000);
    return txId;
  };
  const rows = (txId: string) => auditOf(fixture.database, 'transfer.approved', txId);

  test('stores who approved it and signals its workflow', async () => {
    const txId = await waiting();
    expect((await get(txId)).body).toMatchObject({
      status: 'AWAITING_APPROVAL',
      approval: { expires_at: expect.stringMatching(/Z$/), approved_by: null, approved_at: null },
      screening: null,
    });
    const answer = await approve(txId, { mfa_code: code() });
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { status: 'PENDING', approval: { approved_by: tenant.userId, approved_at: expect.stringMatching(/Z$/) } },
    ]);
    expect(answer.body['timeline']).toMatchObject([
      { status: 'PENDING' },
      { status: 'AWAITING_APPROVAL' },
      { status: 'PENDING' },
    ]);
    await fixture.dispatch();
    expect(fixture.workflows.signalled.approved).toEqual([txId]);
    expect(await rows(txId)).toMatchObject([{ outcome: 'success', actor_id: tenant.userId, client_id: tenant.clientId }]);
    expect(await fixture.workflows.ledger.screenTransfer({ txId })).toEqual({ outcome: 'allowed' });
  });

  test('a second approval gets the same answer if its code is accepted; the same code again has no effect', async () => {
    const txId = await waiting();
    const first = code();
    expect((await approve(txId, { mfa_code: first })).status).toBe(200);
    expectProblem(await approve(txId, { mfa_code: first }), 409, 'not_awaiting_approval');
    expect((await approve(txId, { mfa_code: code() })).status).toBe(200);
    expect(await rows(txId)).toHaveLength(1);
    await fixture.resources.outbox.settled();
    expect(fixture.workflows.signalled.approved.filter((id) => id === txId)).toHaveLength(1);
  });

  test('ten requests at once with one code: one approval', async () => {
    const txId = await waiting();
    const once = code();
    const answers = await Promise.all(Array.from({ length: 10 }, () => approve(txId, { mfa_code: once })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await rows(txId)).toHaveLength(1);
  });

  test.each([
    ['approved', 'approve', 'PENDING'],
    ['cancelled', 'cancel', 'CANCELLED'],
  ])('%s, and the database is away when the answer is read: 503 does not say that nothing was done', async (_, act, status) => {
    const txId = await waiting();
    const lost = Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' });
    const read = jest.spyOn(TransactionService.prototype, 'get').mockRejectedValueOnce(lost);
    const answer = await (act === 'approve'
      ? approve(txId, { mfa_code: code() })
      : fixture.call('POST', `/transactions/${txId}/cancel`, { tenant }));
    read.mockRestore();
    expectProblem(answer, 503, 'outcome_unknown');
    expect(answer.body['tx_id']).toBe(txId);
    expect((await get(txId)).body['status']).toBe(status);
  });

  test('without a code, with a wrong one, without a second factor', async () => {
    const txId = await waiting();
    expectProblem(await approve(txId), 400, 'MFA_REQUIRED');
    expectProblem(await approve(txId, { mfa_code: '12345' }), 400, 'invalid_parameter', 'mfa_code');
    expectProblem(await approve(txId, { mfa_code: totpCode(secret, 20) }), 400, 'MFA_INVALID');
    await fixture.database.query('delete from user_totp where user_id = $1', [tenant.userId]);
    expectProblem(await approve(txId, { mfa_code: '123456' }), 400, 'MFA_NOT_ENABLED');
    expect((await get(txId)).body['status']).toBe('AWAITING_APPROVAL');
  });

  test('404 for an unknown transfer and for another client’s', async () => {
    const txId = await waiting();
    const other = await buildTenant(fixture);
    const theirs = await buildTotp(fixture.database, boxes.totp, other);
    expectProblem(await approve(txId, { mfa_code: totpCode(theirs) }, other), 404, 'not_found');
    expectProblem(await approve(newId(), { mfa_code: code() }), 404, 'not_found');
    expect((await get(txId)).body['status']).toBe('AWAITING_APPROVAL');
  });

  test('409 for one that does not wait: pending, a deposit, cancelled, expired', async () => {
    const txId = await waiting();
    await setPolicy(fixture.database, tenant, 'off');
    const pending = String((await transfer(randomAddress())).body['tx_id']);
    expectProblem(await approve(pending, { mfa_code: await freshCode(fixture, tenant) }), 409, 'not_awaiting_approval');

    await fixture.database.query(`update transactions set approval_expires_at = now() where tx_id = $1`, [txId]);
    expectProblem(await approve(txId, { mfa_code: await freshCode(fixture, tenant) }), 409, 'not_awaiting_approval');
    expect(await fixture.workflows.ledger.screenTransfer({ txId })).toMatchObject({
      outcome: 'refused',
      code: 'approval_expired',
    });
    await fixture.workflows.ledger.cancelTransfer({ txId });
    expectProblem(await approve(txId, { mfa_code: await freshCode(fixture, tenant) }), 409, 'not_awaiting_approval');
  });

  test('a waiting transfer can be cancelled, which is audited', async () => {
    const txId = await waiting();
    const answer = await fixture.call('POST', `/transactions/${txId}/cancel`, { tenant });
    expect([answer.status, answer.body['status']]).toEqual([200, 'CANCELLED']);
    expect(await auditOf(fixture.database, 'transfer.cancelled', txId)).toMatchObject([
      { actor_type: 'user', actor_id: tenant.userId, request_id: expect.any(String) },
    ]);
    expect(await locked()).toBe('0');
  });

  test('approved while the workflow service is down: signalled once it is back; no signal before the start', async () => {
    fixture.workflows.away = true;
    const [txId, running] = [await waiting(), await waiting()];
    expect((await approve(txId, { mfa_code: code() })).status).toBe(200);
    await fixture.resources.outbox.settled();
    fixture.workflows.away = false;
    await fixture.dispatch();
    expect(fixture.workflows.started.sort()).toEqual([txId, running].sort());

    fixture.workflows.away = true;
    expect((await approve(running, { mfa_code: code() })).status).toBe(200);
    await fixture.dispatch();
    expect(fixture.workflows.signalled.approved).not.toContain(running);
    fixture.workflows.away = false;
    for (let i = 0; i < 2; i += 1) await fixture.dispatch();
    expect(fixture.workflows.signalled.approved.filter((id) => id === running)).toHaveLength(1);
    expect(await fixture.database.query('select * from workflow_outbox')).toEqual([]);
  });

  test('is REJECTED and unlocked once its time is over; its workflow is signalled', async () => {
    const [txId, later] = [await waiting(), await waiting()];
    await fixture.resources.outbox.settled();
    await fixture.database.query(`update transactions set approval_expires_at = now() where tx_id = $1`, [txId]);
    const expire = () => expireApprovals(fixture.database, fixture.resources.outbox);
    await Promise.all([expire(), expire(), expire()]);
    await fixture.dispatch();
    expect((await get(txId)).body).toMatchObject({ status: 'REJECTED', failure: { code: 'approval_expired' }, live: null });
    expect((await get(later)).body['status']).toBe('AWAITING_APPROVAL');
    expect(await auditOf(fixture.database, 'transfer.refused', txId)).toMatchObject([{ actor_id: 'screening' }]);
    expect(fixture.workflows.signalled.ended).toEqual([txId]);
    await fixture.call('POST', `/transactions/${later}/cancel`, { tenant });
    expect(await locked()).toBe('0');
  });

  test('several workers: each overdue one is ended once, and one that is locked delays none of them', async () => {
    const overdue = [await waiting(), await waiting(), await waiting(), await waiting()];
    await fixture.resources.outbox.settled();
    await fixture.database.query(`update transactions set approval_expires_at = now() where tx_id = any($1::uuid[])`, [overdue]);
    const expire = () => expireApprovals(fixture.database, fixture.resources.outbox);
    await fixture.database.transaction(async (manager) => {
      await manager.query('select from transactions where tx_id = $1 for update', [overdue[0]]);
      await Promise.all([expire(), expire(), expire()]);
    });
    const statuses = async () => Promise.all(overdue.map(async (txId) => (await get(txId)).body['status']));
    expect(await statuses()).toEqual(['AWAITING_APPROVAL', 'REJECTED', 'REJECTED', 'REJECTED']);
    await expire();
    expect(new Set(await statuses())).toEqual(new Set(['REJECTED']));
    for (const txId of overdue) expect(await auditOf(fixture.database, 'transfer.refused', txId)).toHaveLength(1);
    expect(await locked()).toBe('0');
  });

  test('another user of the client may approve', async () => {
    const txId = await waiting();
    const colleague = await buildColleague(fixture, tenant);
    const theirs = await buildTotp(fixture.database, boxes.totp, colleague);
    const answer = await approve(txId, { mfa_code: totpCode(theirs) }, colleague);
    expect(answer.body).toMatchObject({ approval: { approved_by: colleague.userId } });
  });

  describe('by the user who requested it', () => {
    const setSelfApproval = (allowed: boolean) =>
      fixture.database.query('update clients set self_approval = $2 where client_id = $1', [tenant.clientId, allowed]);

    test('is refused if another user has a second factor, and the code is used up', async () => {
      const txId = await waiting();
      await buildTotp(fixture.database, boxes.totp, await buildColleague(fixture, tenant));
      const used = code();
      expectProblem(await approve(txId, { mfa_code: used }), 403, 'approver_is_requester');
      expect((await get(txId)).body).toMatchObject({ status: 'AWAITING_APPROVAL', approval: { approved_by: null } });
      expect(await rows(txId)).toEqual([]);
      expectProblem(await approve(txId, { mfa_code: used }), 400, 'MFA_INVALID');
    });

    test('is accepted if no other active user has a confirmed second factor', async () => {
      const [unconfirmed, disabled] = [await buildColleague(fixture, tenant), await buildColleague(fixture, tenant)];
      for (const colleague of [unconfirmed, disabled]) await buildTotp(fixture.database, boxes.totp, colleague);
      await fixture.database.query('update user_totp set confirmed_at = null where user_id = $1', [unconfirmed.userId]);
      await fixture.database.query(`update users set status = 'DISABLED' where user_id = $1`, [disabled.userId]);
      expect((await approve(await waiting(), { mfa_code: code() })).status).toBe(200);
    });

    test('is accepted if the policy of the client allows it', async () => {
      const txId = await waiting();
      await buildTotp(fixture.database, boxes.totp, await buildColleague(fixture, tenant));
      await setSelfApproval(true);
      expect((await approve(txId, { mfa_code: code() })).status).toBe(200);
    });

    test('is not possible by changing the requester in the row', async () => {
      const txId = await waiting();
      await expect(
        fixture.database.query('update transactions set requested_by = null where tx_id = $1', [txId]),
      ).rejects.toThrow('what transaction');
    });
  });
});
