import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import { AccessTokens } from '../../src/auth/tokens';
import { totpOwner } from '../../src/mfa/totp';
import { transferApprovedSignal } from '../../src/messages/transfer';
import { transferWorkflowId } from '../../src/messages/workflow-ids';
import { readConfig } from '../../src/platform/config';
import { SecretBox } from '../../src/platform/secret-box';
import { gateway } from '../e2e/gateway';
import { call, transactionWhen } from '../e2e/support';
import { randomAddress } from '../factories';
import { stack } from '../stack/client';
import { pids } from '../stack/pause';
import { environmentOf, gatewayQuery, loginOf, query, refusal } from './processes';
import { isConfirmed, Scene, withoutWorker } from './scene';
import { amount, chain, type OrderedTransfer } from './transfers';

/** SECURITY.md, list “API”: somebody has the API's login. What it can start is what any client can. */

const insufficientPrivilege = '42501';

const scene = new Scene();
let ordered: OrderedTransfer;
beforeAll(async () => {
  ordered = await withoutWorker(() => scene.order());
});
afterAll(() => isConfirmed(ordered));

test.each([
  [
    'begin signing',
    `update transactions set status = 'SIGNING', version = version + 1, signing_begun_at = now() where tx_id = :tx`,
  ],
  [
    'insert an attempt',
    `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound)
     select tx_id, 2, 'replacement', chain, prepared, unsigned, signers, 'another', fee_bound from transfer_attempts where tx_id = :tx`,
  ],
  ['insert an order', `insert into orders (jti, seq, kind, claims) values (gen_random_uuid(), 1, 'transfer', '{}')`],
  [
    'insert a reservation',
    `insert into reservations (chain, owner, resource, ordinal, tx_id) values ('ethereum', :address, '9', 9, :tx)`,
  ],
  ['credit a balance', `update ledger_accounts set available = available + 1`],
  [
    'post a deposit',
    `insert into ledger_postings (posting_id, tx_id, kind, seq, entries) values (gen_random_uuid(), :tx, 'deposit', 9, 2)`,
  ],
  [
    'lock the balance of another transfer',
    `insert into ledger_postings (posting_id, tx_id, kind, seq, entries) values (gen_random_uuid(), :tx, 'lock_more', 9, 2)`,
  ],
  ['report what a chain has executed', `update transfer_attempts set success = true where tx_id = :tx`],
  ['end a transfer', `update transactions set status = 'FAILED', version = version + 1 where tx_id = :tx`],
  ['change a limit', `delete from wallet_limits`],
  ['change a policy', `update clients set whitelist_mode = 'off'`],
  ['add a user', `insert into users (user_id, client_id, name) select gen_random_uuid(), client_id, 'mallory' from clients`],
  [
    'add an API key',
    `insert into api_keys (key_id, client_id, user_id, api_key, secret_hash)
     select gen_random_uuid(), client_id, user_id, 'mallory', decode(repeat('00', 32), 'hex') from users limit 1`,
  ],
  ['change a user', `update users set status = 'disabled'`],
  ['change an API key', `update api_keys set revoked_at = null`],
  ['change a stored amount', `update transactions set amount = amount + 1 where tx_id = :tx`],
  ['change a stored destination', `update transactions set to_address = :address, to_address_key = :address where tx_id = :tx`],
  ['change a stored address', `update accounts set address = :address, address_key = :address where account_id = :account`],
  ['attest a key', `insert into wallet_attestations (wallet_id, node, statement, signature) values (:wallet, 1, '', '')`],
  ['read orders', `select claims from orders`],
  ['remove an audit row', `delete from audit_events`],
])('with its login it cannot %s', async (_, statement) => {
  const { account_id: account, walletId: wallet } = scene.account;
  const values = { tx: ordered.txId, account, wallet, address: randomAddress().toLowerCase() };
  const sql = statement.replace(/:(tx|account|wallet|address)/g, (_match, name: keyof typeof values) => `'${values[name]}'`);
  expect(await refusal(loginOf('gateway_api'), sql)).toBe(insufficientPrivilege);
});

test('it has neither the order key nor anything of a node’s but certificates', () => {
  const [pid = 0] = pids('api');
  const names = Object.keys(environmentOf(pid)).filter((name) => /^(ORDER_KEY|DEPLOYMENT_ID|MPC_NODE_)/.test(name));
  expect(names.sort()).toEqual(['MPC_NODE_HEALTH_URLS', 'MPC_NODE_PEER_CERTS_FILE']);
});

test.each([
  ['remove an address from a list', `update security_factors set status = 'inactive'`],
  [
    'add an address to a list',
    `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
     select gen_random_uuid(), client_id, 'WHITELIST', chain, '0x00000000000000000000000000000000000000fe',
            '0x00000000000000000000000000000000000000fe', requested_by from transactions where tx_id = :tx`,
  ],
])('with its login it can %s', async (_, statement) => {
  expect(await refusal(loginOf('gateway_api'), statement.replace(':tx', `'${ordered.txId}'`))).toBeNull();
});

test('can start a transfer in the name of a user whose secret it does not have, by a token of its own', async () => {
  const names = ['JWT_PRIVATE_KEY', 'JWT_ISSUER', 'JWT_AUDIENCE', 'JWT_TTL_SECONDS'] as const;
  const config = readConfig(names, environmentOf(pids('api')[0] ?? 0));
  const tokens = await AccessTokens.create({
    ...{ privateKey: config.JWT_PRIVATE_KEY, issuer: config.JWT_ISSUER, audience: config.JWT_AUDIENCE },
    ttlSeconds: config.JWT_TTL_SECONDS,
  });
  const [caller] = await gatewayQuery<{ clientId: string; userId: string; keyId: string }>(
    `select k.client_id as "clientId", k.user_id as "userId", k.key_id as "keyId" from api_keys k join transactions t on t.requested_by = k.user_id
      where t.tx_id = $1 and k.revoked_at is null limit 1`,
    [ordered.txId],
  );
  if (!caller) throw new Error('the user has no API key');
  const { address: from_address } = scene.account;
  const body = { from_address, to_address: randomAddress(), chain, token_symbol: 'ETH', amount };
  const answer = await fetch(`${stack().base_url}/transfer`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await tokens.issue(caller)}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(202);
  const { tx_id: txId } = (await answer.json()) as { tx_id: string };
  await isConfirmed({ txId });
});

test('can approve in the name of a user', async () => {
  expect(await gateway(['client', 'policy', 'demo', '--whitelist', 'approve'])).toMatchObject({ code: 0 });
  try {
    const { txId } = await scene.accept();
    await transactionWhen(txId, ['AWAITING_APPROVAL']);
    await query(
      loginOf('gateway_api'),
      `update transactions set status = 'PENDING', version = version + 1, approved_by = requested_by, approved_at = now() where tx_id = $1`,
      [txId],
    );
    const request = { txId, lastAttempt: 0, kind: 'first', prepared: await scene.prepared() } as const;
    // otherwise its workflow has found the approval first, and has had it begun, or has even ended
    expect(['begun', 'stale', 'ended']).toContain((await scene.temporal.beginSigning(request)).outcome);
    // its workflow may wait for the approval already, or has ended
    const signalled = scene.temporal.client.workflow.getHandle(transferWorkflowId(txId)).signal(transferApprovedSignal);
    await signalled.catch((error: unknown) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });
    await isConfirmed({ txId });
  } finally {
    await gateway(['client', 'policy', 'demo', '--whitelist', 'off']);
  }
});

test('can open the secrets in the database: it has their keys', async () => {
  const { TOTP_SECRETS_KEY } = readConfig(['TOTP_SECRETS_KEY'], environmentOf(pids('api')[0] ?? 0));
  const { user_id: userId, totp_secret: secret } = stack().clients.find(({ name }) => name === 'demo') ?? {};
  const [row] = await query<{ secret: Buffer }>(loginOf('gateway_api'), 'select secret from user_totp where user_id = $1', [
    userId,
  ]);
  const box = new SecretBox(TOTP_SECRETS_KEY, 'TOTP_SECRETS_KEY');
  expect(row && box.open(row.secret, totpOwner(userId ?? ''))).toBe(secret);
});

test('can store an address of its own for a new account, which an honest API does not show', async () => {
  const [accountId, address] = [randomUUID(), randomAddress()];
  await query(
    loginOf('gateway_api'),
    `insert into accounts (account_id, wallet_id, client_id, family, chain, network, address, address_key, key_id, key_protocol,
       derivation_path, address_index)
     select $1, wallet_id, client_id, family, chain, network, $2, lower($2), key_id, key_protocol, derivation_path, address_index + 1000
       from accounts where account_id = $3`,
    [accountId, address, scene.account.account_id],
  );
  try {
    expect(await call('GET', `/accounts/${accountId}`)).toMatchObject({ status: 409, body: { code: 'address_differs' } });
    expect(JSON.stringify(await call('GET', `/accounts?wallet_id=${scene.account.walletId}`))).not.toContain(address);
  } finally {
    await gatewayQuery('delete from accounts where account_id = $1', [accountId]);
  }
});
