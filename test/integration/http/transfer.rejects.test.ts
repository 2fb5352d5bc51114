import { randomUUID } from 'node:crypto';
import { randomAddress, wrongChecksum } from '../../factories';
import { tokenBySymbol } from '../../../src/chains/registry';
import { buildFunded, createFixture, ethereum, expectProblem, type Fixture, type Funded } from './fixture';

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
const transfer = (changes: object = {}, headers: Record<string, string> = {}) =>
  fixture.call('POST', '/transfer', { body: { ...valid(), ...changes }, headers });

describe('400 invalid_parameter', () => {
  test.each(['from_address', 'to_address', 'chain', 'token_symbol', 'amount'])('without %s', async (field) => {
    expectProblem(await transfer({ [field]: undefined }), 400, 'invalid_parameter', field);
  });
  test.each(['from_address', 'to_address', 'chain', 'token_symbol', 'amount'])('%s empty', async (field) => {
    expectProblem(await transfer({ [field]: '' }), 400, 'invalid_parameter', field);
  });
  test.each(['from_address', 'to_address', 'chain', 'token_symbol', 'amount', 'memo'])('%s of another type', async (field) => {
    for (const value of [1, true, {}, ['x']]) expectProblem(await transfer({ [field]: value }), 400, 'invalid_parameter', field);
  });
  test.each([
    ['from_address', 256],
    ['to_address', 256],
    ['token_symbol', 21],
    ['memo', 101],
  ])('%s of %d characters', async (field, length) => {
    expectProblem(await transfer({ [field]: 'x'.repeat(length) }), 400, 'invalid_parameter', field);
  });
  test('an unknown chain', async () => expectProblem(await transfer({ chain: 'dogecoin' }), 400, 'invalid_parameter', 'chain'));
  test('a chain in another letter case', async () =>
    expectProblem(await transfer({ chain: 'Ethereum' }), 400, 'invalid_parameter', 'chain'));
  test('an unknown field', async () => expectProblem(await transfer({ ammount: '1' }), 400, 'invalid_parameter', 'ammount'));
  test.each(['0', '0.0', '-1', '+1', '1e3', '0x10', ' 1', '1 ', '1,5', '.5', '1.', 'NaN', 'Infinity', '١', '9'.repeat(79)])(
    'the amount "%s"',
    async (amount) => {
      expectProblem(await transfer({ amount }), 400, 'invalid_parameter', 'amount');
    },
  );
  test('a memo on a chain whose payments carry none', async () =>
    expectProblem(await transfer({ memo: 'x', on_chain_memo: true }), 400, 'invalid_parameter', 'on_chain_memo'));
  test.each(['true', 1, null, {}])('on_chain_memo that is no boolean: %p', async (value) => {
    expectProblem(await transfer({ memo: 'x', on_chain_memo: value }), 400, 'invalid_parameter', 'on_chain_memo');
  });
  test('an address of a program on a chain that has none', async () =>
    expectProblem(await transfer({ allow_program_address: true }), 400, 'invalid_parameter', 'allow_program_address'));
  test.each(['true', 1, null, {}])('allow_program_address that is no boolean: %p', async (value) => {
    expectProblem(await transfer({ allow_program_address: value }), 400, 'invalid_parameter', 'allow_program_address');
  });
  test('more decimals than the asset has', async () =>
    expectProblem(await transfer({ amount: '1.0000001' }), 400, 'invalid_parameter', 'amount'));
  test('more decimals than the asset has, at any length', async () => {
    for (const length of [7, 80, 50_000]) {
      const answer = await transfer({ amount: `1.${'0'.repeat(length - 1)}1` });
      expectProblem(answer, 400, 'invalid_parameter', 'amount');
      expect(answer.text).toContain('must have at most 6 decimal places');
    }
  });
  test('from = to', async () =>
    expectProblem(await transfer({ to_address: funded.account.address }), 400, 'invalid_parameter', 'to_address'));
  test('from = to in another letter case, whatever its checksum', async () => {
    const { address } = funded.account;
    for (const to_address of [address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`, wrongChecksum(address)]) {
      expectProblem(await transfer({ to_address }), 400, 'invalid_parameter', 'to_address');
    }
  });
  test('equal texts that are not addresses', async () =>
    expectProblem(await transfer({ from_address: 'x', to_address: 'x' }), 400, 'invalid_parameter', 'to_address'));
});

describe('400 invalid_address', () => {
  test.each([
    ['no hex', 'bob'],
    ['41 characters', '0x6AE8cF0C1BbA5F214D82dc34e8566fA4f427C37'],
    ['43 characters', '0x6AE8cF0C1BbA5F214D82dc34e8566fA4f427C3755'],
    ['no prefix', '6AE8cF0C1BbA5F214D82dc34e8566fA4f427C375'],
    ['Bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['Tron', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'],
    ['the zero address', `0x${'0'.repeat(40)}`],
  ])('%s', async (_, to_address) => expectProblem(await transfer({ to_address }), 400, 'invalid_address', 'to_address'));
  test.each(['USDC', 'USDT'])('a token that is sent to the contract of %s', async (symbol) => {
    const to_address = tokenBySymbol(ethereum, symbol)?.contract;
    const answer = await transfer({ to_address });
    expectProblem(answer, 400, 'invalid_address', 'to_address');
    expect(answer.text).toContain(`is the contract of ${symbol}`);
    expect((await transfer({ to_address, token_symbol: 'ETH', amount: '0.001' })).status).toBe(202);
  });
  test('a wrong EIP-55 checksum', async () =>
    expectProblem(await transfer({ to_address: wrongChecksum(randomAddress()) }), 400, 'invalid_address', 'to_address'));
});

describe('404 not_found', () => {
  test.each([
    ['unknown_sender', { from_address: randomAddress() }],
    ['asset_not_added', { token_symbol: 'USDT' }],
    ['unknown_token', { token_symbol: 'DOGE' }],
  ])('with its reason %s', async (reason, changes) => {
    const answer = await transfer(changes);
    expectProblem(answer, 404, 'not_found');
    expect(answer.body).toMatchObject({ reason, detail: expect.stringMatching(/^asset not found: /) });
  });
  test('another client’s address', async () => {
    const theirs = await buildFunded(fixture, fixture.other);
    const answer = await transfer({ from_address: theirs.account.address });
    expectProblem(answer, 404, 'not_found');
    expect(answer.body).toMatchObject({ reason: 'unknown_sender' });
  });
  test('a token that was not added', async () => expectProblem(await transfer({ token_symbol: 'USDT' }), 404, 'not_found'));
  test('an unknown token', async () => expectProblem(await transfer({ token_symbol: 'DOGE' }), 404, 'not_found'));
  test('a token in another letter case', async () => expectProblem(await transfer({ token_symbol: 'usdc' }), 404, 'not_found'));
  test('the same address on another chain', async () => expectProblem(await transfer({ chain: 'base' }), 404, 'not_found'));
});

describe('400 by state', () => {
  const withRow = async (sql: string, id: string, undo: string, code: string) => {
    await fixture.database.query(sql, [id]);
    const answer = await transfer();
    await fixture.database.query(undo, [id]);
    expectProblem(answer, 400, code);
    return answer;
  };
  test('insufficient_balance, with what there is and what it takes', async () => {
    const answer = await transfer({ amount: '1000.000001' });
    expectProblem(answer, 400, 'insufficient_balance');
    expect(answer.body).toMatchObject({ token_symbol: 'USDC', available: '1000', needed: '1000.000001' });
  });
  test('insufficient_balance for the fee names the coin', async () => {
    const answer = await transfer({ token_symbol: 'ETH', amount: '10' });
    expectProblem(answer, 400, 'insufficient_balance');
    expect(answer.body['detail']).toContain('ETH');
    expect(answer.body).toMatchObject({
      token_symbol: 'ETH',
      available: expect.stringMatching(/^9\.9\d+$/),
      needed: expect.stringMatching(/^10\.0\d+$/),
    });
  });
  test('wallet_not_active', async () => {
    const answer = await withRow(
      `update wallets set status = 'SUSPENDED' where wallet_id = $1`,
      funded.wallet.walletId,
      `update wallets set status = 'ACTIVE' where wallet_id = $1`,
      'wallet_not_active',
    );
    expect([answer.body['reason'], answer.headers.get('retry-after')]).toEqual(['suspended', null]);
  });
  test('account_not_active', () =>
    withRow(
      `update accounts set status = 'INACTIVE' where account_id = $1`,
      funded.account.accountId,
      `update accounts set status = 'ACTIVE' where account_id = $1`,
      'account_not_active',
    ));
  test('business_error over the wallet limit', () =>
    withRow(
      `insert into wallet_limits (wallet_id, symbol, max_single) values ($1, 'USDC', 1)`,
      funded.wallet.walletId,
      `delete from wallet_limits where wallet_id = $1`,
      'business_error',
    ));
});

test('a refused transfer is not started', async () => {
  const before = fixture.workflows.started.length;
  await transfer({ amount: '1000000' });
  await transfer({ from_address: randomAddress() });
  await fixture.dispatch();
  expect(fixture.workflows.started).toHaveLength(before);
});

describe('5xx', () => {
  /** Rows of everything that an acceptance writes, and the funds. */
  const stored = () =>
    fixture.database.query<unknown>(
      `select (select count(*) from transactions) as transactions, (select count(*) from transaction_events) as events,
              (select count(*) from ledger_entries) as entries, (select count(*) from workflow_outbox) as messages,
              (select count(*) from audit_events) as audit, (select count(response_status) from idempotency_keys) as answers,
              (select sum(locked) from ledger_accounts) as locked`,
    );
  test('503 chain_unavailable while the fees of the chain are not known: nothing is stored, the same key is good later', async () => {
    const [to_address, key] = [randomAddress(), { 'idempotency-key': randomUUID() }];
    const send = () => transfer({ to_address }, key);
    await fixture.database.query(`update chain_cursors set fee_levels_at = now() - interval '11 minutes'`);
    const before = await stored();
    const answer = await send();
    const after = await stored();
    await fixture.database.query(`update chain_cursors set fee_levels_at = now()`);
    expect(after).toEqual(before);
    expectProblem(answer, 503, 'chain_unavailable');
    expect(answer.headers.get('retry-after')).toBe('15');
    expect((await send()).status).toBe(202);
    expect(await stored()).not.toEqual(before);
  });
  test('500 internal_error shows no details', async () => {
    await fixture.database.query('alter table workflow_outbox rename to secret');
    const answer = await transfer();
    await fixture.database.query('alter table secret rename to workflow_outbox');
    expectProblem(answer, 500, 'internal_error');
    expect(answer.text).not.toMatch(/secret|workflow_outbox/);
  });
});

describe('202', () => {
  test('answers tx_id, PENDING and a message, and locks', async () => {
    const answer = await transfer({ memo: 'rent' });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({ tx_id: expect.any(String), status: 'PENDING', message: expect.any(String) });
    expect(answer.headers.get('location')).toBe(`/api/v1/transactions/${String(answer.body['tx_id'])}`);
    const detail = await fixture.call('GET', `/transactions/${String(answer.body['tx_id'])}`);
    expect(detail.body).toMatchObject({
      amount: '1.5',
      memo: 'rent',
      status: 'PENDING',
      transaction_type: 'OUTBOUND',
      fee: null,
      live: { step: 'signing' },
    });
  });
  test('accepts from_address in any letter case, and to_address in lower case', async () => {
    const { address } = funded.account;
    for (const from_address of [address.toLowerCase(), wrongChecksum(address)]) {
      expect((await transfer({ from_address, to_address: randomAddress().toLowerCase() })).status).toBe(202);
    }
  });
  test('accepts superfluous zeros', async () => expect((await transfer({ amount: '001.500000000' })).status).toBe(202));
});
