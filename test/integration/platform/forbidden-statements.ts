import type { DatabaseRole } from '../../../src/platform/database-roles';
import { houseClientId } from '../../../src/platform/house';

const insertAttempt = `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound)
  values (:signed, 2, 'replacement', 'ethereum', '{}', '0x', '[]', 'another', 1)`;
const insertOrder = `insert into orders (jti, seq, kind, claims) values (:new, 999, 'generate_key', jsonb_build_object('jti', :new, 'seq', 999, 'kind', 'generate_key'))`;
const insertReservation = `insert into reservations (chain, owner, resource, ordinal, tx_id) values ('ethereum', :address, '9', 9, :signed)`;
const linkReservation = `insert into attempt_reservations (tx_id, attempt, reservation_id) values (:signed, 1, 1)`;
const insertRequest = `insert into operator_requests (tx_id, kind, operator) values (:signed, 'abandon', 'mallory')`;
const insertUser = `insert into users (user_id, client_id, name) values (:new, :client, 'mallory')`;
const insertKey = `insert into api_keys (key_id, client_id, user_id, api_key, secret_hash) values (:new, :client, :user, 'k', decode(repeat('00', 32), 'hex'))`;
const listAddress = `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
  values (:new, :client, 'WHITELIST', 'ethereum', :address, lower(:address), :user)`;
const unlist = `update security_factors set status = 'inactive'`;
const approve = `update transactions set approved_by = :user, approved_at = now() where tx_id = :waiting`;
const beginSigning = `update transactions set status = 'SIGNING', version = version + 1, signing_begun_at = now() where tx_id = :waiting`;
const signAgain = `update transactions set status = 'SIGNING', version = version + 1 where tx_id = :waiting`;
const giveUpAs = (reason: string) => `update transactions set cancellation_reason = '${reason}' where tx_id = :signed`;
const wait = (until: string) =>
  `update transactions set status = 'AWAITING_APPROVAL', version = version + 1, approval_expires_at = ${until} where tx_id = :waiting`;
const raiseFee = `update transactions set fee_locked = fee_locked + 1 where tx_id = :waiting`;
const endAs = (status: string) => `update transactions set status = '${status}', version = version + 1 where tx_id = :waiting`;
export const post = (kind: string) =>
  `insert into ledger_postings (posting_id, tx_id, kind, seq, entries) values (:new, :waiting, '${kind}', 9, 2)`;
const house = `'${houseClientId}'`;
const insertTransaction = (type: string, more = '', values = '', client = ':client') =>
  `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, from_address, to_address,
     token_symbol, decimals, amount, status, required_confirmations${more})
   values (:new, ${client}, :wallet, :account, :asset, 'ethereum', '${type}', :address, :address, 'ETH', 18, 1,
     '${type === 'INBOUND' ? 'DETECTED' : 'PENDING'}', 1${values})`;
const transfer = insertTransaction('OUTBOUND');
const deposit = insertTransaction('INBOUND', ', tx_hash, block_hash, position', `, '0x1', '0x1', '0'`);
const settlement = insertTransaction('X402_SETTLE');
const authorisation = insertTransaction('X402_SIGN');
const [gas, topUp] = [insertTransaction('GAS', '', '', house), insertTransaction('GAS_TOPUP', '', '', house)];
const consolidations = [
  insertTransaction('CONSOLIDATION'),
  `insert into consolidations (tx_id, max_inputs, below) values (:waiting, 2, 1)`,
];
const credit = `update ledger_accounts set available = available + 1`;
const swapAddress = `update accounts set address = :address, address_key = :address where account_id = :account`;
const swapKey = `update wallets set public_key = null where wallet_id = :wallet`;
const attest = `insert into wallet_attestations (wallet_id, node, statement, signature) values (:wallet, 1, '{}', repeat('A', 88))`;
const attestAccount = `insert into account_attestations (account_id, node, statement, signature) values (:account, 1, '{}', repeat('A', 88))`;
const askForKey = `insert into account_key_requests (account_id, wallet_id, client_id, family, in_flight_until) values (:new, :wallet, :client, 'evm', now())`;
const chooseKey = `update account_key_requests set key_id = 'k'`;
const takeKey = `update pooled_keys set wallet_id = :wallet, taken_at = now()`;
const offerKey = `insert into pooled_keys (key_id) values ('pool-' || gen_random_uuid() || '.1')`;
const limits = `insert into wallet_limits (wallet_id, symbol, max_single) values (:wallet, 'ETH', 1)`;
const policy = `update clients set whitelist_mode = 'off'`;
const totp = `select secret from user_totp`;
const insertWallet = (client: string) =>
  `insert into wallets (wallet_id, client_id, wallet_name) values (:new, ${client}, 'mallory')`;
const insertAccount = (
  client: string,
) => `insert into accounts (account_id, wallet_id, client_id, family, chain, network, address, address_key,
  key_id, key_protocol, derivation_path, address_index)
  values (:new, :wallet, ${client}, 'evm', 'ethereum', 'local', :address, :address, 'k', 'ecdsa-secp256k1', 'm/60/9', 9)`;
const insertSettler = `insert into settlers (settler_id, chain, account_id, address_key) values (:new, 'ethereum', :account, :address)`;
const askWithdrawal = `insert into settler_withdrawals (withdrawal_id, settler_id, to_address, to_address_key, operator)
  select :new, settler_id, :address, :address, 'mallory' from settlers limit 1`;
const redirect = `update settler_withdrawals set to_address = :address`;
const moveRole = `update settlers set is_primary = not is_primary`;
const allowSettling = `insert into x402_policies (client_id, chain, is_enabled, sponsors_permit, sponsors_approval, top_up_per_day)
  values (:client, 'ethereum', true, true, true, 1)`;
const raiseGas = `update x402_policies set gas_per_day = gas_per_day + 1`;
const liftBrake = `update x402_policies set failures_per_payer = null`;
const forgetFailures = `delete from x402_failures`;
const nameFactory = `update x402_policies set wallet_factories = array[:address]`;
const insertSettlement = `insert into x402_settlements (tx_id, client_id, chain, scheme, payload_type, identity, request_hash, version, authorised,
    amount, valid_after, window_end, action, gas_bound)
  values (:waiting, :client, 'ethereum', 'exact', 'eip3009', 'i', decode(repeat('00', 32), 'hex'), 2, 1, 1, 0, 1, '{}', 0)`;
const insertApproval = `insert into x402_approvals (tx_id, client_id, chain, contract_address, payer, day, raw, tx_hash, nonce, top_up, created_at)
  values (:waiting, :client, 'ethereum', '0x1', :address, now(), '0x01', '0x1', 0, 1, now())`;
const raiseTopUp = `update x402_approvals set top_up = top_up + 1`;
const release = `update x402_settlements set released_at = now()`;
/** What belongs to the house, and what is settled for clients. */
const ofHouse = [
  ...[insertWallet(house), insertAccount(house), insertSettler, moveRole, askWithdrawal, redirect, allowSettling, raiseGas],
  ...[nameFactory, liftBrake, forgetFailures, settlement, insertSettlement, insertApproval, raiseTopUp],
];

const refuseAs = (kind: string, code = 'stuck') =>
  `insert into refusals (tx_id, attempt, kind, code, reason) values (:waiting, 1, '${kind}', '${code}', 'none')`;
const insertOutput = `insert into chain_outputs (chain, resource, owner, amount, block_number, spendable_from) values ('bitcoin', 'output', :address, 1, 1, 1)`;
const acceptCount = `insert into foreign_ordinals (chain, owner, below) values ('ethereum', :address, 1)`;
const askRedo = `insert into redo_requests (tx_id, operator) values (:signed, 'mallory')`;
const answerRedo = `update redo_requests set ended_at = now(), new_tx_id = :waiting`;
const compare = `update order_comparison set compared_as = database_incarnation()`;

/** What each process must not do. `:name` is a value of the test. */
export const forbidden: Record<DatabaseRole, string[]> = {
  gateway_api: [
    acceptCount,
    compare,
    askRedo,
    'update workflow_outbox set turn = 0',
    'select fold_list_counts(1)',
    ...[insertAttempt, insertOrder, insertReservation, linkReservation, insertRequest, insertUser, insertKey, limits, policy],
    ...[beginSigning, signAgain, raiseFee, endAs('SUBMITTED'), endAs('CONFIRMED'), endAs('FAILED'), endAs('REJECTED')],
    ...[
      post('settle'),
      post('deposit'),
      post('adjustment'),
      post('gas'),
      post('lock_more'),
      credit,
      deposit,
      swapAddress,
      swapKey,
      attest,
      chooseKey,
      takeKey,
      offerKey,
      'select * from free_pooled_keys',
    ],
    ...[refuseAs('rule'), refuseAs('chain'), refuseAs('order')],
    `update transactions set tx_hash = '0x1' where tx_id = :waiting`,
    `update transactions set to_address = :address, to_address_key = :address where tx_id = :waiting`,
    `update transfer_attempts set impossible_proof = '{}' where tx_id = :signed`,
    `update chain_cursors set head_block = 1000`,
    insertOutput,
    ...[...consolidations, transfer.replace('18, 1,', '18, 0,')],
    `update user_totp set secret = ''`,
    'delete from wallet_limits',
    'delete from security_factors',
    ...[
      insertWallet(house),
      insertAccount(house),
      insertSettler,
      moveRole,
      askWithdrawal,
      redirect,
      allowSettling,
      raiseGas,
      nameFactory,
      liftBrake,
      forgetFailures,
      gas,
      topUp,
      raiseTopUp,
    ],
  ],
  gateway_worker: [
    ...[askRedo, answerRedo],
    `update chain_outputs set amount = 1`,
    acceptCount,
    compare,
    ...[
      insertAttempt,
      insertOrder,
      insertReservation,
      linkReservation,
      insertRequest,
      insertUser,
      insertKey,
      listAddress,
      unlist,
    ],
    ...[approve, beginSigning, signAgain, raiseFee, endAs('CANCELLED'), transfer, post('lock'), post('lock_more'), credit],
    ...[swapAddress, limits, policy, totp],
    ...[giveUpAs('abandoned'), giveUpAs('address_blacklisted'), giveUpAs('node_policy')],
    ...[endAs('REJECTED'), endAs('FAILED'), refuseAs('order'), wait(`now() + interval '25 hours'`), wait('now()')],
    `insert into refusals (tx_id, attempt, kind, code, reason, refused_by) values (:waiting, 1, 'rule', 'x', 'x', 'gateway_authoriser')`,
    `update transactions set approval_expires_at = now() + interval '1 hour' where tx_id = :waiting`,
    `update transactions set to_address = :address where tx_id = :waiting`,
    `update transactions set amount = 1 where tx_id = :waiting`,
    `update transactions set requested_by = null where tx_id = :waiting`,
    `update transfer_attempts set unsigned = '0x1' where tx_id = :signed`,
    `update wallets set status = 'SUSPENDED' where wallet_id = :wallet`,
    insertWallet(':client'),
    ...[attestAccount, askForKey, chooseKey, takeKey, offerKey, 'select * from pooled_keys'],
    ...[...ofHouse, authorisation, ...consolidations],
    'update blacklist_changes set listed = false',
    'select * from blacklist_changes',
    'select secret_hash from api_keys',
    'select * from idempotency_keys',
  ],
  gateway_authoriser: [
    ...[askRedo, answerRedo],
    acceptCount,
    ...[insertRequest, insertUser, insertKey, listAddress, unlist, approve, transfer, deposit, swapAddress, limits, policy, totp],
    ...[endAs('AWAITING_APPROVAL'), endAs('CANCELLED'), endAs('FAILED'), endAs('NEEDS_ATTENTION'), attest, giveUpAs('abandoned')],
    giveUpAs('address_blacklisted'),
    ...[attestAccount, askForKey],
    'delete from pooled_keys',
    'update pooled_keys set offered_at = now()',
    ...[refuseAs('chain'), 'select * from refusals'],
    ...[post('lock'), post('unlock'), post('deposit'), post('settle'), post('adjustment'), post('gas'), credit],
    `update transactions set to_address = :address where tx_id = :waiting`,
    `update transactions set tx_hash = '0x1' where tx_id = :signed`,
    `update transfer_attempts set signed = '0x1' where tx_id = :signed`,
    `update transfer_attempts set impossible_proof = '{}' where tx_id = :signed`,
    `update wallets set public_key = null`,
    ...[...ofHouse, gas, release, ...consolidations],
    `update chain_cursors set head_block = 1000`,
    insertOutput,
    `select * from webhook_endpoints`,
  ],
  gateway_operator: [
    answerRedo,
    compare,
    ...[
      insertAttempt,
      insertOrder,
      insertReservation,
      linkReservation,
      transfer,
      deposit,
      listAddress,
      unlist,
      approve,
      raiseFee,
    ],
    ...[
      beginSigning,
      signAgain,
      endAs('CANCELLED'),
      endAs('FAILED'),
      endAs('REJECTED'),
      endAs('NEEDS_ATTENTION'),
      post('lock'),
      post('unlock'),
      post('adjustment'),
      credit,
    ],
    // and with it none of what it says of its end
    `update transactions set failure_code = 'stuck' where tx_id = :waiting`,
    `update transactions set tx_hash = '0x1' where tx_id = :signed`,
    `update transactions set to_address = :address where tx_id = :waiting`,
    ...[
      swapAddress,
      swapKey,
      attest,
      attestAccount,
      askForKey,
      chooseKey,
      takeKey,
      offerKey,
      insertWallet(':client'),
      insertAccount(':client'),
      settlement,
      gas,
      topUp,
      insertSettlement,
      release,
      insertApproval,
      raiseTopUp,
    ],
    `update api_keys set secret_hash = decode(repeat('00', 32), 'hex')`,
    `update transfer_attempts set impossible_proof = '{}' where tx_id = :signed`,
    'delete from clients',
    'select * from idempotency_keys',
  ],
};

/** What no process may do. */
export const forbiddenToAll = [
  'update audit_events set actor_id = actor_id',
  'delete from audit_events',
  'delete from audit_seals',
  'truncate audit_pending',
  'delete from transactions',
  'delete from ledger_entries',
  'update ledger_postings set seq = 9',
  'update transaction_events set status = status',
  'delete from operator_requests',
  'delete from redo_requests',
  `update redo_requests set operator = 'another'`,
  'update transactions set retry_of = :signed where tx_id = :waiting',
  `update refusals set reason = 'another'`,
  'delete from refusals',
  'update orders set seq = seq',
  'delete from order_comparison',
  'delete from foreign_ordinals',
  'update foreign_ordinals set below = 9',
  'delete from settlers',
  'delete from settler_withdrawals',
  `update settler_withdrawals set to_address = :address`,
  `update settler_withdrawals set is_made = not is_made`,
  `update settlers set draining_since = null`,
  'delete from x402_settlements',
  'update x402_settlements set amount = 0',
  `update x402_authorisations set requirements = '{}'`,
  'delete from x402_authorisations',
  'update consolidations set max_inputs = 64',
  'delete from consolidations',
  `select add_x402_cost(gen_random_uuid(), gen_random_uuid(), 'ethereum', now(), -1, 0)`,
  'update x402_costs set fees = 0',
  'delete from x402_costs',
  `select add_to_wallet_sum(:wallet, 'ETH', 18::smallint, now(), -1)`,
  'update wallet_sums set amount = 0',
  'delete from wallet_sums',
  `select add_to_list('transactions', :client, array[:client::uuid], 0, 'ethereum')`,
  'update list_totals set total = 1',
  'delete from list_totals',
  `insert into list_counts (list, subject_id, part, counted) values ('assets', :client, '', 1)`,
  'update list_counts set counted = 1',
  'delete from list_counts',
  'update ledger_accounts set is_added = not is_added',
  `insert into ledger_accounts (ledger_account_id, account_id, wallet_id, client_id, chain, symbol, decimals, contract_address, is_added)
   select gen_random_uuid(), account_id, wallet_id, client_id, 'ethereum', 'FORGED', 18, '0xforged', true from accounts where account_id = :account`,
  'update x402_failures set failed_at = now()',
  `update settlers set account_id = :account`,
  'update wallet_attestations set statement = statement',
  'delete from wallet_attestations',
  'update account_attestations set statement = statement',
  'delete from account_attestations',
  'alter table transactions disable trigger transactions_guard',
  'drop trigger ledger_entries_apply on ledger_entries',
  'drop table audit_seals',
  'alter table transactions disable row level security',
  'create or replace function login_role() returns text language sql as $$ select null::text $$',
  'create function public.f() returns int language sql as $$ select 1 $$',
  'create table public.t ()',
  `set session_replication_role = 'replica'`,
  'set role postgres',
  'create role mallory',
  'delete from migrations',
];
