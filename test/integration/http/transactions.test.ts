import { newId } from '../../../src/platform/ids';
import { randomAddress } from '../../factories';
import { refuseAttempt } from '../../refusals';
import { include, sign } from '../ledger/fixture';
import { buildFunded, buildTenant, createFixture, expectProblem, type Fixture, type Funded, type Tenant } from './fixture';

let fixture: Fixture;
let tenant: Tenant;
let funded: Funded;
beforeAll(async () => {
  fixture = await createFixture();
  tenant = await buildTenant(fixture);
  funded = await buildFunded(fixture, tenant);
});
afterAll(() => fixture.close());

const get = (path: string, as = tenant) => fixture.call('GET', path, { tenant: as });
async function transfer(): Promise<string> {
  const body = {
    from_address: funded.account.address,
    to_address: randomAddress(),
    chain: 'ethereum',
    token_symbol: 'USDC',
    amount: '1',
  };
  return String((await fixture.call('POST', '/transfer', { tenant, body })).body['tx_id']);
}

describe('GET /transactions', () => {
  test('lists deposits and transfers, newest first, with filters', async () => {
    const txId = await transfer();
    const all = await get('/transactions');
    expect(all.body.data[0]).toEqual({
      tx_id: txId,
      wallet_id: funded.wallet.walletId,
      client_id: tenant.clientId,
      chain: 'ethereum',
      transaction_type: 'OUTBOUND',
      from_address: funded.account.address,
      to_address: expect.any(String),
      token_symbol: 'USDC',
      amount: '1',
      status: 'PENDING',
      tx_hash: null,
      external_id: null,
      retry_of: null,
      created_at: expect.any(String),
    });
    expect(all.body).toMatchObject({ total: 3, has_more: false });
    for (const query of [`wallet_id=${funded.wallet.walletId}`, `account_id=${funded.account.accountId}`, 'chain=ethereum']) {
      expect((await get(`/transactions?${query}`)).body).toMatchObject({ total: 3 });
      expect((await get(`/transactions?${query}`, fixture.other)).body).toEqual({
        data: [],
        total: 0,
        total_is_exact: true,
        has_more: false,
        next: null,
      });
    }
    for (const query of [`wallet_id=${newId()}`, 'wallet_id=nope', 'account_id=nope', 'chain=base']) {
      expect((await get(`/transactions?${query}`)).body).toEqual({
        data: [],
        total: 0,
        total_is_exact: true,
        has_more: false,
        next: null,
      });
    }
    expect((await get('/transactions?page=2&page_size=2')).body).toMatchObject({ total: 3, has_more: false });
    expectProblem(await get('/transactions?chian=ethereum'), 400, 'invalid_parameter', 'chian');
  });
});

describe('GET /transactions/{tx_id}', () => {
  test('has the details, the timeline and the live state', async () => {
    const answer = await get(`/transactions/${await transfer()}`);
    expect(answer.body).toMatchObject({
      memo: null,
      asset_id: expect.any(String),
      account_id: funded.account.accountId,
      fee: null,
      confirmations: 0,
      required_confirmations: expect.any(Number),
      block_number: null,
      failure: null,
      timeline: [{ status: 'PENDING', at: expect.stringMatching(/Z$/) }],
      live: { step: 'signing', attempt: 1, detail: '' },
    });
  });

  const ofNodes = 'Waiting for two signing nodes: node 2 says that https://rpc.internal/key is away';
  test.each([
    ...['prepare', 'sponsor', 'sign', 'broadcast', 'park', 'ended'].map((step) => [step, ofNodes] as const),
    ['sign', 'Nodes 1 and 2 are asked to sign'] as const,
  ])('what the step %s says for operators is not shown, whatever the row says: %s', async (step, detail) => {
    const txId = await transfer();
    const live = jest.spyOn(fixture.workflows, 'live').mockResolvedValue({ step, attempt: 2, detail });
    const answer = await get(`/transactions/${txId}`);
    live.mockRestore();
    expect(answer.body).toMatchObject({ status: 'PENDING', live: { step, attempt: 2, detail: expect.any(String) } });
    expect(answer.text).not.toMatch(/nodes? \d|rpc\.internal/i);
  });
  test('what the chain has shown is told as the workflow has it', async () => {
    const live = { step: 'confirm', attempt: 1, detail: 'included · 3 of 12 confirmations' };
    const asked = jest.spyOn(fixture.workflows, 'live').mockResolvedValue(live);
    const txId = await transfer();
    expect((await get(`/transactions/${txId}`)).body).toMatchObject({ live });
    asked.mockRestore();
  });

  test('1,000 pollers: the workflow is asked once a second at most, and not at all once the transfer has ended', async () => {
    const txId = await transfer();
    const asked = jest.spyOn(fixture.workflows, 'live');
    const began = performance.now();
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => get(`/transactions/${txId}`)));
      expect(answers.every(({ body }) => body['live'] !== null)).toBe(true);
    }
    const seconds = (performance.now() - began) / 1_000;
    expect(asked.mock.calls.length).toBeGreaterThan(0);
    expect(asked.mock.calls.length).toBeLessThanOrEqual(Math.floor(seconds) + 1);
    await fixture.call('POST', `/transactions/${txId}/cancel`, { tenant });
    asked.mockClear();
    expect((await get(`/transactions/${txId}`)).body).toMatchObject({ status: 'CANCELLED', live: null });
    expect(asked).not.toHaveBeenCalled();
    asked.mockRestore();
  });

  test('counts confirmations from the follower’s head', async () => {
    const { data } = (await get('/transactions?page_size=100')).body;
    const deposit = data.find((tx) => tx['transaction_type'] === 'INBOUND');
    await fixture.database.query(`update chain_cursors set head_block = 12 where chain = 'ethereum'`);
    expect((await get(`/transactions/${String(deposit?.['tx_id'])}`)).body).toMatchObject({
      block_number: 1,
      confirmations: 12,
      live: null,
      status: 'CONFIRMED',
    });
  });

  test('shows the block and its depth while it still waits for more', async () => {
    const txId = await transfer();
    const signer = { ...funded, database: fixture.database, ledger: fixture.workflows.ledger } as never;
    await sign(signer, txId);
    expect((await get(`/transactions/${txId}`)).body).toMatchObject({ block_number: null, confirmations: 0 });
    await include(signer, txId, 1);
    await fixture.database.query(`update chain_cursors set head_block = 8 where chain = 'ethereum'`);
    expect((await get(`/transactions/${txId}`)).body).toMatchObject({ fee: null, block_number: 7, confirmations: 2 });
  });

  test('404 for unknown transactions and those of other clients, 400 for a missing id', async () => {
    const txId = await transfer();
    for (const path of [`/transactions/${newId()}`, '/transactions/nope']) expectProblem(await get(path), 404, 'not_found');
    expectProblem(await get(`/transactions/${txId}`, fixture.other), 404, 'not_found');
    expectProblem(await get('/transactions/'), 400, 'invalid_parameter');
  });
});

describe('POST /transactions/{tx_id}/cancel', () => {
  const cancel = (txId: string, as = tenant, body?: unknown) =>
    fixture.call('POST', `/transactions/${txId}/cancel`, { tenant: as, ...(body !== undefined && { body }) });

  test('cancels before signing, and again', async () => {
    const txId = await transfer();
    for (let i = 0; i < 2; i += 1) {
      const answer = await cancel(txId);
      expect([answer.status, answer.body['status'], answer.body['live']]).toEqual([200, 'CANCELLED', null]);
    }
  });
  test('cancels before the workflow exists and while the workflow service is down: one audit row, by the user', async () => {
    fixture.workflows.away = true;
    const txId = await transfer();
    for (let i = 0; i < 2; i += 1) expect((await cancel(txId)).body).toMatchObject({ tx_id: txId, status: 'CANCELLED' });
    await fixture.dispatch();
    fixture.workflows.away = false;
    await fixture.dispatch();
    // started nevertheless: it finds that the transfer has ended
    expect(fixture.workflows.started).toContain(txId);
    const rows = await fixture.database.query<{ actor_id: string }[]>(
      `select actor_id from audit_events where action = 'transfer.cancelled' and subject_id = $1`,
      [txId],
    );
    expect(rows).toEqual([{ actor_id: tenant.userId }]);
    expect(await fixture.database.query('select * from workflow_outbox')).toEqual([]);
  });
  test('signals the running workflow', async () => {
    const txId = await transfer();
    await fixture.resources.outbox.settled();
    await cancel(txId);
    await fixture.resources.outbox.settled();
    expect(fixture.workflows.signalled.ended).toContain(txId);
  });
  test('however often it is repeated, the workflow is told once, and one whose signing has begun is told nothing', async () => {
    const [txId, signed] = [await transfer(), await transfer()];
    await sign({ ...funded, database: fixture.database, ledger: fixture.workflows.ledger } as never, signed);
    await fixture.resources.outbox.settled();
    for (let times = 0; times < 20; times += 1) {
      await cancel(txId);
      await cancel(signed);
      await fixture.resources.outbox.settled();
    }
    await fixture.dispatch();
    expect(fixture.workflows.signalled.ended.filter((id) => id === txId)).toHaveLength(1);
    expect(fixture.workflows.signalled.ended).not.toContain(signed);
  });
  test('409 once signing has begun', async () => {
    const txId = await transfer();
    await sign({ ...funded, database: fixture.database, ledger: fixture.workflows.ledger } as never, txId);
    expectProblem(await cancel(txId), 409, 'not_cancellable');
  });
  test('409 once it has ended otherwise, or for a deposit', async () => {
    const txId = await transfer();
    await refuseAttempt(fixture.database, { txId });
    await fixture.workflows.ledger.endTransfer({ txId });
    expectProblem(await cancel(txId), 409, 'not_cancellable');
    const deposit = (await get('/transactions?page_size=100')).body.data.find((tx) => tx['transaction_type'] === 'INBOUND');
    expectProblem(await cancel(String(deposit?.['tx_id'])), 409, 'not_cancellable');
  });
  test('404 for unknown transactions and those of other clients, 400 for unknown fields', async () => {
    const txId = await transfer();
    expectProblem(await cancel(newId()), 404, 'not_found');
    expectProblem(await cancel(txId, fixture.other), 404, 'not_found');
    expectProblem(await cancel(txId, tenant, { force: true }), 400, 'invalid_parameter', 'force');
  });
});
