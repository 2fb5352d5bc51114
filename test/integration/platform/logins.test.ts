import { Client } from 'pg';
import { type DatabaseRole, databaseRoles } from '../../../src/platform/database-roles';
import { newId } from '../../../src/platform/ids';
import { buildTransferRequest, buildUser, ledgerAccountOf, randomAddress } from '../../factories';
import { createFixture, ether, ethereum, type Fixture, fund, sign } from '../ledger/fixture';
import { listAddress, unlist } from '../screening/factors';
import { forbidden, forbiddenToAll, post } from './forbidden-statements';

/** Each process's own login tries what that process must not do, with raw SQL: Postgres itself refuses it. */

let fixture: Fixture;
const logins = new Map<DatabaseRole, Client>();
/** Values for `:name` in statements. */
let values: Record<string, string>;

beforeAll(async () => {
  fixture = await createFixture({ poolSize: 3 });
  const { database, account, client, wallet } = fixture;
  await fund(fixture, 'ETH', 10n * ether);
  const accept = async () => (await fixture.ledger.lockTransfer(buildTransferRequest(account, ethereum))).txId;
  const [waiting, signed] = [await accept(), await accept()];
  await sign(fixture, signed);
  values = {
    waiting,
    signed,
    user: (await buildUser(database, client)).userId,
    client: client.clientId,
    wallet: wallet.walletId,
    account: account.accountId,
    asset: (await ledgerAccountOf(database, account, ethereum, 'ETH')).ledgerAccountId,
    address: randomAddress(),
    new: newId(),
  };
  for (const [role, connectionString] of Object.entries(await fixture.logins())) {
    const login = new Client({ connectionString });
    await login.connect();
    logins.set(role as DatabaseRole, login);
  }
});
afterAll(async () => {
  for (const login of logins.values()) await login.end();
  await fixture.close();
});

const insufficientPrivilege = '42501';

const withValues = (statement: string): string =>
  statement.replace(/(?<!:):(\w+)/g, (_, name: string) => `'${values[name] as string}'`);

/** Why the statement is refused; null if it is not. Nothing is kept. */
async function refusal(role: DatabaseRole, statement: string): Promise<{ code?: string; message: string } | null> {
  const login = logins.get(role) as Client;
  await login.query('begin');
  try {
    await login.query(withValues(statement));
    return null;
  } catch (error) {
    return error as Error & { code?: string };
  } finally {
    await login.query('rollback');
  }
}

describe.each(databaseRoles)('%s', (role) => {
  test.each([...forbidden[role], ...forbiddenToAll])('may not: %s', async (statement) => {
    expect(await refusal(role, statement)).toMatchObject({ code: insufficientPrivilege });
  });

  test.each(databaseRoles.filter((other) => other !== role))('may not become %s', async (other) => {
    expect(await refusal(role, `set role ${other}`)).toMatchObject({ code: insufficientPrivilege });
    expect(await refusal(role, `grant ${other} to current_user`)).toMatchObject({ code: insufficientPrivilege });
  });
});

test('the worker releases an input of an ended transfer alone, at the time of the database, and never while an attempt may use it', async () => {
  const take = `insert into reservations (chain, owner, resource, tx_id)
    select 'ethereum', address_key, 'unused', :signed from accounts where account_id = :account`;
  const use = `insert into attempt_reservations select tx_id, 1, reservation_id from reservations where resource = 'unused'`;
  const release = `update reservations set released_at = '2000-01-01' where resource = 'unused' returning released_at > now() - interval '1 minute' as now`;
  const proven = `update transfer_attempts set impossible_proof = '{"why":"test"}' where tx_id = :signed`;
  const failed = `update transactions set status = 'FAILED', version = version + 1 where tx_id = :signed`;
  const login = logins.get('gateway_worker') as Client;
  await fixture.database.query(withValues(take));
  await fixture.database.query(withValues(use));
  expect(await refusal('gateway_worker', release)).toMatchObject({ code: '23000' });
  expect(await refusal('gateway_worker', `${proven}; ${release}`)).toMatchObject({ code: insufficientPrivilege });
  expect(await refusal('gateway_authoriser', release)).toMatchObject({ code: '23000' });
  await login.query('begin');
  try {
    for (const statement of [proven, failed]) await login.query(withValues(statement));
    expect((await login.query(release)).rows).toEqual([{ now: true }]);
  } finally {
    await login.query('rollback');
  }
});

describe('the worker gives a transfer up', () => {
  const giveUp = (reason: string) => `update transactions set cancellation_reason = '${reason}' where tx_id = :signed`;
  const request = (kind: 'abandon' | 'withdrawal', attempt: number) =>
    `insert into operator_requests (tx_id, kind, attempt, operator) values (:signed, '${kind}', ${attempt}, 'somebody')`;
  const note = (sql: string) => fixture.database.query(withValues(sql));

  test('as abandoned only while the newest request of an operator asks for it, knowing the newest attempt', async () => {
    await note(request('abandon', 1));
    expect(await refusal('gateway_worker', giveUp('abandoned'))).toBeNull();
    expect(await refusal('gateway_api', giveUp('abandoned'))).toMatchObject({ code: insufficientPrivilege });
    const another = `insert into transfer_attempts select (jsonb_populate_record(a, '{"attempt": 2, "kind": "replacement", "message_key": "2",
      "unsigned": "0x02", "tx_hash": null, "signed": null, "signed_at": null, "broadcast_at": null}')).* from transfer_attempts a where tx_id = :signed`;
    await fixture.database.transaction(async (manager) => {
      await manager.query(`set local session_replication_role = replica`);
      await manager.query(withValues(another));
    });
    expect(await refusal('gateway_worker', giveUp('abandoned'))).toMatchObject({ code: insufficientPrivilege });
    await note(request('abandon', 2));
    expect(await refusal('gateway_worker', giveUp('abandoned'))).toBeNull();
    await note(request('withdrawal', 2));
    expect(await refusal('gateway_worker', giveUp('abandoned'))).toMatchObject({ code: insufficientPrivilege });
  });

  test('as blacklisted only while its destination is listed', async () => {
    const [{ to }] = await fixture.database.query<[{ to: string }]>(
      withValues('select to_address as to from transactions where tx_id = :signed'),
    );
    const factor = await listAddress(fixture.database, fixture.account, to);
    expect(await refusal('gateway_worker', giveUp('address_blacklisted'))).toBeNull();
    expect(await refusal('gateway_worker', giveUp('node_policy'))).toMatchObject({ code: insufficientPrivilege });
    await unlist(fixture.database, factor);
    expect(await refusal('gateway_worker', giveUp('address_blacklisted'))).toMatchObject({ code: insufficientPrivilege });
  });

  test('once: the reason stays', async () => {
    await note(giveUp('node_policy'));
    for (const role of ['gateway_worker', 'gateway_authoriser'] as const)
      for (const to of [`'address_blacklisted'`, 'null'])
        expect(await refusal(role, `update transactions set cancellation_reason = ${to} where tx_id = :signed`)).toMatchObject({
          code: insufficientPrivilege,
        });
  });
});

describe('the worker ends a transfer before anything of it is signed', () => {
  const refuse = (kind: string, code: string) =>
    `insert into refusals (tx_id, attempt, kind, code, reason) values (:waiting, 1, '${kind}', '${code}', 'none')`;
  const end = (status: string, code: string, reason = 'none') =>
    `update transactions set status = '${status}', version = version + 1, failure_code = '${code}', failure_message = '${reason}'
      where tx_id = :waiting`;
  const refused = { code: insufficientPrivilege };

  test('as the refusal on record says, and not otherwise', async () => {
    for (const [kind, status, other] of [
      ['rule', 'REJECTED', 'FAILED'],
      ['chain', 'FAILED', 'REJECTED'],
    ] as const) {
      const as = (to: string) => refusal('gateway_worker', `${refuse(kind, 'stuck')}; ${to}`);
      expect(await as(end(status, 'stuck'))).toBeNull();
      expect(await as(end(other, 'stuck'))).toMatchObject(refused);
      expect(await as(end(status, 'business_error'))).toMatchObject(refused);
      expect(await as(end(status, 'stuck', 'another'))).toMatchObject(refused);
    }
  });

  test('not as a refusal of a later attempt says', async () => {
    const later = refuse('chain', 'stuck').replace(', 1,', ', 2,');
    expect(await refusal('gateway_worker', `${later}; ${end('FAILED', 'stuck')}`)).toMatchObject(refused);
  });

  test('by a code of those who refuse in that way', async () => {
    for (const [role, kind, code] of [
      ['gateway_worker', 'chain', 'address_blacklisted'],
      ['gateway_worker', 'rule', 'reverted_on_chain'],
      ['gateway_worker', 'rule', 'would_revert'],
      ['gateway_authoriser', 'order', 'approval_expired'],
    ] as const)
      expect(await refusal(role, refuse(kind, code))).toMatchObject({ code: '23514' });
    expect(await refusal('gateway_authoriser', refuse('order', 'fee_above_bound'))).toBeNull();
    expect(await refusal('gateway_authoriser', refuse('rule', 'address_blacklisted'))).toBeNull();
  });
});

describe('what limits count by', () => {
  /** Runs as the API, keeps nothing, and returns the row of the last statement. */
  const asApi = async (...statements: string[]): Promise<Record<string, unknown> | undefined> => {
    const login = logins.get('gateway_api') as Client;
    await login.query('begin');
    try {
      let row: Record<string, unknown> | undefined;
      for (const sql of statements) row = (await login.query<Record<string, unknown>>(withValues(sql))).rows[0];
      return row;
    } finally {
      await login.query('rollback');
    }
  };
  const times = `select created_at = now() as created_now, approved_at, approved_by, approval_expires_at, approved_at > now() - interval '1 minute' as approved_now
                   from transactions where tx_id =`;
  const copy = `insert into transactions select (jsonb_populate_record(t, jsonb_build_object('tx_id', :new::text, 'status', 'PENDING', 'version', 0,
      'created_at', now() - interval '3 days', 'approved_at', now() - interval '3 days', 'approved_by', :user::text,
      'approval_expires_at', now() + interval '3 days'))).* from transactions t where tx_id = :waiting`;

  test('a new transfer begins now and is approved by nobody, whatever its writer says', async () => {
    expect(await asApi(copy, `${times} :new`)).toMatchObject({
      created_now: true,
      approved_at: null,
      approved_by: null,
      approval_expires_at: null,
    });
  });

  test('it waits for its approval and is approved by the API, at the time of the database', async () => {
    const wait = `update transactions set status = 'AWAITING_APPROVAL', version = version + 1, approval_expires_at = now() + interval '1 day'
                   where tx_id = :waiting`;
    const approve = `update transactions set status = 'PENDING', version = version + 1, approved_by = :user, approved_at = '2000-01-01'
                      where tx_id = :waiting`;
    expect(await asApi(wait, approve, `${times} :waiting`)).toMatchObject({ approved_by: values.user, approved_now: true });
    const again = `update transactions set approved_at = '2000-01-01' where tx_id = :waiting`;
    await expect(asApi(wait, approve, again)).rejects.toMatchObject({ code: insufficientPrivilege });
    await expect(asApi(again)).rejects.toMatchObject({ code: insufficientPrivilege });
  });
});

test('every table says who may do what with it, and nobody else may read it', async () => {
  const rows = await fixture.database.query<{ name: string }[]>(
    `select relname as name from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'migrations'
        and not exists (select from unnest($1::text[]) role where has_any_column_privilege(role, c.oid, 'select'))`,
    [databaseRoles],
  );
  expect(rows).toEqual([]);
  const [open] = await fixture.database.query<unknown[]>(
    `select has_schema_privilege('public', 'public', 'usage') as usage,
            (select count(*)::int from pg_proc where pronamespace = 'public'::regnamespace and has_function_privilege('public', oid, 'execute')) as functions`,
  );
  expect(open).toEqual({ usage: false, functions: 0 });
});

test('a posting that the API may write holds money of the account only, and takes none from the house', async () => {
  const entries = (ledgerAccount: string, bucket: string, line: number, amount: number) =>
    `(:new, ${line}, ${ledgerAccount}, '${bucket}', 'ethereum', 'ETH', ${amount})`;
  const gift = `${post('unlock')};
    insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount)
    values ${entries(':asset', 'AVAILABLE', 0, 1)}, ${entries('null', 'LOSS', 1, -1)}`;
  expect(await refusal('gateway_api', gift)).toMatchObject({ message: 'a hold moves money within its account only' });
});
