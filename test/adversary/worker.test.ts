import { randomBytes, randomUUID } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { LocalChainClient } from '../../dev/solana/stack';
import { nodeIndexes } from '../../src/messages/nodes';
import { attestKey } from '../../src/mpc/key-attestation';
import { parseAmount } from '../../src/platform/money';
import { gateway } from '../e2e/gateway';
import { call, ends, transactionWhen } from '../e2e/support';
import { randomAddress } from '../factories';
import { isInStack, nodeOf } from '../families';
import { signRefusal } from '../node-refusals';
import { stack, waitFor } from '../stack/client';
import { pause, pids, resumeAll } from '../stack/pause';
import { nodeQuery, signingPairs } from './nodes';
import { alarmsOf, environmentOf, gatewayQuery, loginOf, query, refusal, undone } from './processes';
import { ProtocolScene } from './protocols';
import { isConfirmed, withoutWorker } from './scene';
import { amount, chain, multiplyFee, type OrderedTransfer } from './transfers';
import { newKeyPair } from '../keys';

/** SECURITY.md, list “Worker”: somebody has the worker's login, and reaches Temporal as the worker does. */

const insufficientPrivilege = '42501';
const integrity = '23000';

const [scene, onSolana] = ProtocolScene.all() as [ProtocolScene, ProtocolScene];

describe('with its login it cannot', () => {
  let ordered: OrderedTransfer;
  /** PENDING as long as the worker is away. */
  let pending: { txId: string };
  beforeAll(async () => {
    pause('worker');
    ordered = await scene.order();
    pending = await scene.accept();
  });
  afterAll(async () => {
    resumeAll();
    await isConfirmed(ordered);
    await isConfirmed(pending);
  });

  test.each([
    ['change a destination', `update transactions set to_address = :address, to_address_key = :address where tx_id = :tx`],
    ['change an amount', `update transactions set amount = amount + 1 where tx_id = :tx`],
    ['change an address', `update accounts set address = :address, address_key = :address where account_id = :account`],
    ['change the bytes of an attempt', `update transfer_attempts set unsigned = '0x00' where tx_id = :tx`],
    [
      'insert an attempt',
      `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound)
       values (:tx, 2, 'replacement', 'ethereum', '{}', '0x', '[]', 'another', 1)`,
    ],
    [
      'insert a reservation',
      `insert into reservations (chain, owner, resource, ordinal, tx_id) values ('ethereum', :address, '9', 9, :tx)`,
    ],
    ['insert an order', `insert into orders (jti, seq, kind, claims) values (gen_random_uuid(), 1, 'transfer', '{}')`],
    ['approve', `update transactions set approved_by = requested_by, approved_at = now() where tx_id = :tx`],
    ['begin signing', `update transactions set status = 'SIGNING', version = version + 1 where tx_id = :pending`],
    [
      'cancel in the name of a client',
      `update transactions set status = 'CANCELLED', version = version + 1 where tx_id = :pending`,
    ],
    [
      'accept a transfer',
      `insert into ledger_postings (posting_id, tx_id, kind, seq, entries) values (gen_random_uuid(), :pending, 'lock', 9, 2)`,
    ],
    [
      'end a transfer that nothing has refused',
      `update transactions set status = 'REJECTED', version = version + 1, failure_code = 'x', failure_message = 'x' where tx_id = :pending`,
    ],
    [
      'refuse in the name of the authoriser',
      `insert into refusals (tx_id, attempt, kind, code, reason) values (:pending, 1, 'order', 'x', 'x')`,
    ],
    ['suspend a wallet', `update wallets set status = 'SUSPENDED' where wallet_id = :wallet`],
    ['request an abandonment', `insert into operator_requests (tx_id, kind, attempt, operator) values (:tx, 'abandon', 1, 'x')`],
    [
      'refuse in the name of a node',
      `insert into node_refusals (tx_id, attempt, node, statement, signature) values (:tx, 1, 1, '', '')`,
    ],
    ['abandon what no operator wants abandoned', `update transactions set cancellation_reason = 'abandoned' where tx_id = :tx`],
    ['give up for a list', `update transactions set cancellation_reason = 'address_blacklisted' where tx_id = :tx`],
    ['give up for limits of nodes', `update transactions set cancellation_reason = 'node_policy' where tx_id = :tx`],
    ['change lists', `update security_factors set status = 'inactive'`],
    ['change policies', `update clients set whitelist_mode = 'off'`],
    ['change limits', `delete from wallet_limits`],
    ['read API keys', `select secret_hash from api_keys`],
    ['read TOTP secrets', `select secret from user_totp`],
    ['remove an audit row', `delete from audit_events`],
  ])('%s', async (_, statement) => {
    const { account_id: account, walletId: wallet } = scene.account;
    const values = { tx: ordered.txId, pending: pending.txId, account, wallet, address: randomAddress().toLowerCase() };
    const names = new RegExp(`:(${Object.keys(values).join('|')})`, 'g');
    const sql = statement.replace(names, (_match, name: keyof typeof values) => `'${values[name]}'`);
    expect(await refusal(loginOf('gateway_worker'), sql)).toBe(insufficientPrivilege);
  });

  test('change a key that is in use', async () => {
    const login = loginOf('gateway_worker');
    for (const column of [
      'key_id = null',
      `public_key = decode(repeat('02', 33), 'hex')`,
      `chain_code = decode(repeat('00', 32), 'hex')`,
    ])
      expect(await refusal(login, `update wallets set ${column} where wallet_id = '${scene.account.walletId}'`)).toBe(integrity);
  });
});

describe('with its login it can', () => {
  test.each([
    [
      'report a false inclusion',
      `update transfer_attempts set block_number = 1, block_hash = '0xfa15e', included_id = tx_hash, success = false, fee = 7, debited = 0
        where tx_id = (select tx_id from transactions where account_id = $1 and status = 'CONFIRMED' and is_signed limit 1)
       returning success, fee::int as changed`,
      { success: false, changed: 7 },
    ],
    [
      'freeze assets',
      `update ledger_accounts set frozen_reason = 'none' where account_id = $1 and symbol = 'ETH' returning frozen_reason as changed`,
      { changed: 'none' },
    ],
  ])('%s', async (_, statement, changed) => {
    const { account_id: account } = scene.account;
    expect(await undone(loginOf('gateway_worker'), statement, [account])).toEqual([changed]);
  });

  test('read the sealed webhook secrets', async () => {
    expect(await refusal(loginOf('gateway_worker'), `select secret, previous_secret from webhook_endpoints`)).toBeNull();
  });
});

test('can report false fees: the authoriser orders what they make usual, and nothing above the cap of the chain', async () => {
  const ordered = await withoutWorker(async () => {
    const { txId } = await scene.accept();
    const prepared = await scene.prepared();
    const ask = (factor: bigint) =>
      scene.temporal.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared: multiplyFee(prepared, factor) });
    expect(await ask(100n)).toMatchObject({ outcome: 'wait' });
    await query(
      loginOf('gateway_worker'),
      `update chain_cursors set fee_levels_at = now(), fee_levels =
         (select jsonb_object_agg(key, ((value #>> '{}')::numeric * 100)::text) from jsonb_each(fee_levels)) where chain = $1`,
      [chain],
    );
    expect(await ask(10n ** 9n)).toMatchObject({ outcome: 'refused', code: 'fee_above_bound' });
    expect(await ask(100n)).toMatchObject({ outcome: 'begun', attempt: 1 });
    return { txId };
  });
  // it must not find the policy of a later test
  await isConfirmed(ordered);
});

test('it has neither the order key nor anything of a node’s', () => {
  const [pid = 0] = pids('worker');
  expect(
    Object.keys(environmentOf(pid)).filter((name) =>
      /^(ORDER_KEY|DEPLOYMENT_ID|MPC_NODE_(?!PEER_CERTS|FORMER_CERTS)|TOTP_)/.test(name),
    ),
  ).toEqual([]);
});

test('cannot approve by the state of a transfer: whether it needs an approval is decided again', async () => {
  const { client_id: clientId = '' } = stack().clients.find(({ name }) => name === 'demo') ?? {};
  expect(await gateway(['client', 'policy', clientId, '--whitelist', 'approve'])).toMatchObject({ code: 0 });
  try {
    const { txId } = await scene.accept();
    await transactionWhen(txId, ['AWAITING_APPROVAL']);
    await withoutWorker(async () => {
      const skip = `update transactions set status = 'PENDING', version = version + 1 where tx_id = $1`;
      await query(loginOf('gateway_worker'), skip, [txId]);
      const request = { txId, lastAttempt: 0, kind: 'first', prepared: await scene.prepared() } as const;
      expect(await scene.temporal.beginSigning(request)).toEqual({ outcome: 'needs_approval' });
      expect(await gatewayQuery('select from orders where tx_id = $1', [txId])).toEqual([]);
    });
    await call('POST', `/transactions/${txId}/cancel`);
    expect(await transactionWhen(txId, ['CANCELLED'])).toMatchObject({ tx_hash: null });
  } finally {
    await gateway(['client', 'policy', clientId, '--whitelist', 'off']);
  }
});

test('can give a wallet that has no key yet a key of its own: it is never shown as active, and raises an alarm', async () => {
  const walletId = randomUUID();
  const { client_id: clientId } = stack().clients.find(({ name }) => name === 'demo') ?? {};
  const insert = 'insert into wallets (wallet_id, client_id, wallet_name) values ($1, $2, $3)';
  await gatewayQuery(insert, [walletId, clientId, walletId]);
  const login = loginOf('gateway_worker');
  const stranger = newKeyPair('P-256').privateKey;
  const own = { keyId: `${walletId}.1`, publicKey: Buffer.from(secp256k1.keygen().publicKey), chainCode: randomBytes(32) };
  const bound = { ...own, walletId, clientId: clientId ?? '', protocol: 'ecdsa-secp256k1' } as const;
  for (const node of nodeIndexes) {
    const { text, signature } = attestKey(node, bound, stranger);
    const attest = 'insert into wallet_attestations (wallet_id, node, statement, signature) values ($1, $2, $3, $4)';
    await query(login, attest, [walletId, node, text, signature]);
  }
  await query(
    login,
    `update wallets set status = 'ACTIVE', key_status = 'ACTIVE', key_id = $2, public_key = $3, chain_code = $4 where wallet_id = $1`,
    [walletId, own.keyId, own.publicKey, own.chainCode],
  );
  const unusable = { status: 'SUSPENDED', key_status: 'UNVERIFIED' };
  expect(await call('GET', `/wallets/${walletId}`)).toMatchObject({ status: 200, body: unusable });
  const create = await call('POST', '/accounts', { body: { wallet_id: walletId, chain: 'ethereum' } });
  expect(create).toMatchObject({ status: 400, body: { code: 'wallet_not_active' } });
  expect(alarmsOf('api')).toContainEqual(expect.objectContaining({ alert: 'key_not_attested', wallet_id: walletId }));
});

test('can report false chain data: a false proof of impossibility has no second payment ordered, and what is executed counts', async () => {
  const ordered = await withoutWorker(async () => {
    const real = await scene.order();
    const proof = JSON.stringify({ reason: 'false' });
    const prove = 'update transfer_attempts set impossible_proof = $2 where tx_id = $1';
    await query(loginOf('gateway_worker'), prove, [real.txId, proof]);
    const prepared = await scene.prepared();
    const request = { txId: real.txId, lastAttempt: 1, prepared };
    const ask = (kind: 'replacement' | 'reissue' | 'cancellation') => scene.temporal.beginSigning({ ...request, kind });
    expect(await ask('replacement')).toMatchObject({ outcome: 'wait' });
    expect(await ask('cancellation')).toMatchObject({ outcome: 'refused', code: 'not_cancellable' });
    // an EVM transfer has no reissue: the authoriser's log says so
    await expect(ask('reissue')).rejects.toMatchObject({ code: 'internal_error' });
    expect(await gatewayQuery('select kind from orders where tx_id = $1', [real.txId])).toEqual([{ kind: 'transfer' }]);
    return real;
  });
  scene.leave(ordered);
});

(isInStack(onSolana.of.fixture) ? test : test.skip)(
  'the same where attempts expire: another one is ordered, and no pair of nodes signs it on the word of the worker',
  async () => {
    const ordered = await withoutWorker(async () => {
      const real = await onSolana.order();
      const prove = 'update transfer_attempts set impossible_proof = $2 where tx_id = $1';
      await query(loginOf('gateway_worker'), prove, [real.txId, JSON.stringify({ reason: 'false' })]);
      // with the same block hash the bytes are the same, and the first attempt is ordered again
      const begun = await waitFor(async () => {
        const prepared = await onSolana.prepared();
        const answer = await onSolana.temporal.beginSigning({ txId: real.txId, lastAttempt: 1, kind: 'reissue', prepared });
        if (answer.outcome !== 'begun') throw new Error(`the authoriser answered ${JSON.stringify(answer)}`);
        return answer.unsigned !== real.unsigned && answer;
      });
      expect(begun.attempt).toBe(2);
      const { order, unsigned } = begun;
      for (const pair of signingPairs)
        await expect(onSolana.temporal.sign({ order, unsigned }, pair)).rejects.toMatchObject({ code: 'reissue_unproven' });
      for (const node of nodeIndexes)
        expect(await nodeQuery(node, 'select from journal where tx_id = $1', [real.txId])).toEqual([]);
      // the first attempt is as good as before
      const { signatures } = await onSolana.temporal.sign(real, { initiator: 1, peer: 2 });
      await onSolana.of.broadcast(onSolana.assemble(real, signatures).bytes);
      return real;
    });
    const { chain: name, decimals } = onSolana.of.fixture;
    // the second attempt could still be signed: nothing ends before the chain shows that it has expired
    const parked = await transactionWhen(ordered.txId, ['NEEDS_ATTENTION'], 60_000);
    expect(parked.failure).toMatchObject({ code: 'internal_error' });
    await new LocalChainClient(stack().chains[name]?.rpc ?? '').faults.mine(200);
    // what is parked is told again after 30 s, and after twice the time each time: the third time is 210 s later
    expect((await transactionWhen(ordered.txId, ends, 240_000)).status).toBe('CONFIRMED');
    const frozen = 'select distinct frozen_reason from ledger_accounts where account_id = $1 and frozen_reason is not null';
    expect(await gatewayQuery(frozen, [onSolana.account.account_id])).toEqual([
      { frozen_reason: `transfer ${ordered.txId} may have been executed twice` },
    ]);
    expect(await nodeOf(name).balanceOf(ordered.to)).toBe(parseAmount(amount, decimals));
  },
);

test('can abandon what an operator has requested since the newest attempt, and not after the request was withdrawn', async () => {
  const ordered = await withoutWorker(async () => {
    const real = await scene.order();
    const abandon = () =>
      refusal(loginOf('gateway_worker'), `update transactions set cancellation_reason = 'abandoned' where tx_id = $1`, [
        real.txId,
      ]);
    const request = (kind: 'abandon' | 'withdrawal') =>
      query(
        stack().postgres.operator_url,
        `insert into operator_requests (tx_id, kind, attempt, operator) values ($1, $2, 1, 'test')`,
        [real.txId, kind],
      );
    expect(await abandon()).toBe(insufficientPrivilege);
    await request('abandon');
    expect(await abandon()).toBeNull();
    await request('withdrawal');
    expect(await abandon()).toBe(insufficientPrivilege);
    return real;
  });
  scene.leave(ordered);
});

test('can end a transfer before anything of it is signed by a refusal of its own, which stays on record as its', async () => {
  const { txId } = await withoutWorker(async () => {
    const accepted = await scene.accept();
    await scene.temporal.endWorkflow(accepted.txId);
    const refuse = `insert into refusals (tx_id, attempt, kind, code, reason) values ($1, 1, 'rule', 'wallet_not_active', 'none')`;
    await query(loginOf('gateway_worker'), refuse, [accepted.txId]);
    return accepted;
  });
  await scene.temporal.step('endTransfer', { txId });
  expect(await transactionWhen(txId, ends)).toMatchObject({ status: 'REJECTED', failure: { code: 'wallet_not_active' } });
  expect(await gatewayQuery('select refused_by from refusals where tx_id = $1', [txId])).toEqual([
    { refused_by: 'gateway_worker' },
  ]);
  for (const change of ['delete from refusals', `update refusals set reason = 'another'`])
    expect(await refusal(loginOf('gateway_worker'), change)).toBe(insufficientPrivilege);
});

test('can credit a deposit that does not exist: its login may write all rows of one', async () => {
  const { account_id: account } = scene.account;
  const [deposit, posting] = [randomUUID(), randomUUID()];
  const invent = `
    insert into transactions select (jsonb_populate_record(t, jsonb_build_object('tx_id', '${deposit}', 'tx_hash', '0xfa15e', 'status', 'DETECTED',
        'version', 0, 'ended_at', null, 'finalized_at', null, 'fee', null))).*
      from transactions t where account_id = '${account}' and direction = 'in' order by created_at limit 1;
    update transactions set status = 'CONFIRMED', version = 1 where tx_id = '${deposit}';
    insert into ledger_postings (posting_id, tx_id, kind, seq, entries) values ('${posting}', '${deposit}', 'deposit', 1, 2);
    insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount)
      select '${posting}'::uuid, 0, asset_id, 'AVAILABLE', chain, token_symbol, amount from transactions where tx_id = '${deposit}'
      union all select '${posting}'::uuid, 1, null, 'EXTERNAL', chain, token_symbol, -amount from transactions where tx_id = '${deposit}'`;
  expect(await refusal(loginOf('gateway_worker'), invent)).toBeNull();
  expect(await refusal(loginOf('gateway_api'), invent)).toBe(insufficientPrivilege);
});

test('can adjust a balance falsely, which no operator can: theirs is no posting', async () => {
  const { account_id: account } = scene.account;
  const posting = randomUUID();
  const adjust = `
    insert into ledger_postings (posting_id, tx_id, kind, seq, entries)
      select '${posting}', tx_id, 'adjustment', 77, 2 from transactions where account_id = '${account}' and status = 'CONFIRMED' limit 1;
    insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount)
      select '${posting}'::uuid, 0, ledger_account_id, 'AVAILABLE', chain, symbol, 1 from ledger_accounts where account_id = '${account}' and symbol = 'ETH'
      union all select '${posting}'::uuid, 1, null, 'EXTERNAL', chain, symbol, -1 from ledger_accounts where account_id = '${account}' and symbol = 'ETH'`;
  expect(await refusal(loginOf('gateway_worker'), adjust)).toBeNull();
  for (const login of [stack().postgres.operator_url, loginOf('gateway_api'), loginOf('gateway_authoriser')])
    expect(await refusal(login, adjust)).toBe(insufficientPrivilege);
});

test('cannot refuse in the name of a node: refusals that no node has signed cancel nothing', async () => {
  const ordered = await withoutWorker(async () => {
    const real = await scene.order();
    const refusals = nodeIndexes.map((node) => signRefusal(node, { tx_id: real.txId, attempt: 1 }));
    expect(await scene.temporal.authoriser('recordNodeRefusals', { txId: real.txId, refusals })).toEqual({ accepted: false });
    return real;
  });
  scene.leave(ordered);
});
