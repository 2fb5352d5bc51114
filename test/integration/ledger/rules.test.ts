import {
  buildAccount,
  buildClient,
  buildDeposit,
  buildTransferRequest,
  buildWallet,
  fundAccount,
  ledgerAccountOf,
  randomHash,
} from '../../factories';
import { refuseAttempt } from '../../refusals';
import { recordDeposits } from '../../../src/deposits/record';
import { finalize } from '../../../src/following/inclusions';
import { newId } from '../../../src/platform/ids';
import { houseClientId } from '../../../src/platform/house';
import { transactionTypes } from '../../../src/transactions/types';
import { recordAbandonRequest } from '../../../src/transfers/operate/operator-requests';
import {
  balances,
  begin,
  begun,
  codeOf,
  createFixture,
  differences,
  ether,
  ethereum,
  fund,
  include,
  sign,
  usdc,
  type Fixture,
} from './fixture';

/** Attacks every rule of the schema with raw SQL as the owner of the tables: the database refuses what the code could do wrong. */

let fixture: Fixture;
let txId: string;
let assetId: string;

beforeEach(async () => {
  fixture = await createFixture({ poolSize: 3 });
  await fund(fixture, 'ETH', 10n * ether);
  const request = buildTransferRequest(fixture.account, ethereum);
  ({ txId } = await fixture.ledger.lockTransfer(request));
  assetId = (await ledgerAccountOf(fixture.database, fixture.account, ethereum, 'ETH')).ledgerAccountId;
});
afterEach(async () => {
  expect(await differences(fixture)).toEqual([]);
  await fixture.close();
});

/** Runs statements in one transaction and returns why it was refused. */
async function refusal(...statements: string[]): Promise<string> {
  try {
    await fixture.database.transaction(async (manager) => {
      for (const statement of statements) await manager.query(statement);
    });
    return 'nothing refused it';
  } catch (error) {
    return (error as Error).message;
  }
}

type Line = [ledgerAccountId: string | null, bucket: string, amount: bigint, symbol?: string];

/** SQL of a posting with its entries. */
function posting(kind: string, seq: number, lines: Line[], { of = txId, entries = lines.length } = {}): string[] {
  const id = newId();
  const values = lines.map(
    ([account, bucket, amount, symbol = 'ETH'], line) =>
      `('${id}', ${line}, ${account ? `'${account}'` : 'null'}, '${bucket}', 'ethereum', '${symbol}', ${amount})`,
  );
  return [
    `insert into ledger_postings (posting_id, tx_id, kind, seq, entries) values ('${id}', '${of}', '${kind}', ${seq}, ${entries})`,
    `insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount) values ${values.join(', ')}`,
  ];
}

/** Assigns the block in which an attempt is included. */
async function includedBlock(attempt: number): Promise<string> {
  const [row] = await fixture.database.query<{ id: string; number: string; hash: string }[]>(
    'select included_id as id, block_number as number, block_hash as hash from transfer_attempts where tx_id = $1 and attempt = $2',
    [txId, attempt],
  );
  return `, tx_hash = '${row?.id}', block_number = ${row?.number}, block_hash = '${row?.hash}'`;
}

const setStatus = (status: string, more = '') =>
  `update transactions set status = '${status}', version = version + 1 ${more} where tx_id = '${txId}'`;

describe('postings', () => {
  test('that do not sum to zero', async () => {
    expect(
      await refusal(
        ...posting('adjustment', 1, [
          [assetId, 'AVAILABLE', 5n],
          [null, 'EXTERNAL', -4n],
        ]),
      ),
    ).toMatch(/does not balance/);
  });
  test('that balance across symbols only', async () => {
    expect(
      await refusal(
        ...posting('adjustment', 1, [
          [assetId, 'AVAILABLE', 5n],
          [null, 'EXTERNAL', -5n, 'USDC'],
        ]),
      ),
    ).toMatch(/does not balance/);
  });
  test('without entries', async () => {
    const [head] = posting('adjustment', 1, [
      [assetId, 'AVAILABLE', 5n],
      [null, 'EXTERNAL', -5n],
    ]);
    expect(await refusal(head as string)).toMatch(/has no entries/);
  });
  test('with fewer entries than said', async () => {
    expect(
      await refusal(
        ...posting(
          'adjustment',
          1,
          [
            [assetId, 'AVAILABLE', 5n],
            [null, 'EXTERNAL', -5n],
          ],
          { entries: 3 },
        ),
      ),
    ).toMatch(/not complete/);
  });
  test('that get balanced entries later', async () => {
    const [{ posting_id: id }] = await fixture.database.query<[{ posting_id: string }]>(
      `select posting_id from ledger_postings where tx_id = '${txId}'`,
    );
    expect(
      await refusal(
        `insert into ledger_entries values ('${id}', 8, '${assetId}', 'AVAILABLE', 'ethereum', 'ETH', 5), ('${id}', 9, null, 'EXTERNAL', 'ethereum', 'ETH', -5)`,
      ),
    ).toMatch(/not complete/);
  });
  test('on an account that is not of the transaction', async () => {
    const other = await buildAccount(fixture.database, fixture.wallet, ethereum);
    await fundAccount(fixture.database, other, ethereum, 'ETH', 5n);
    const { ledgerAccountId } = await ledgerAccountOf(fixture.database, other, ethereum, 'ETH');
    expect(
      await refusal(
        ...posting('adjustment', 1, [
          [ledgerAccountId, 'AVAILABLE', -5n],
          [assetId, 'AVAILABLE', 5n],
        ]),
      ),
    ).toMatch(/does not belong/);
  });
  test('with a symbol that is not the account’s', async () => {
    expect(
      await refusal(
        ...posting('adjustment', 1, [
          [assetId, 'AVAILABLE', -5n, 'USDC'],
          [null, 'EXTERNAL', 5n, 'USDC'],
        ]),
      ),
    ).toMatch(/does not belong/);
  });
  test('that make a balance negative', async () => {
    expect(
      await refusal(
        ...posting('adjustment', 1, [
          [assetId, 'AVAILABLE', -100n * ether],
          [null, 'EXTERNAL', 100n * ether],
        ]),
      ),
    ).toMatch(/available_check/);
  });
  test('with a zero amount', async () => {
    expect(
      await refusal(
        ...posting('adjustment', 1, [
          [assetId, 'AVAILABLE', 0n],
          [null, 'EXTERNAL', 0n],
        ]),
      ),
    ).toMatch(/amount_check/);
  });
  test('that lock twice', async () => {
    expect(
      await refusal(
        ...posting('lock', 1, [
          [assetId, 'AVAILABLE', -5n],
          [assetId, 'LOCKED', 5n],
        ]),
      ),
    ).toMatch(/postings_that_lock/);
  });
  test('that unlock an open transfer', async () => {
    const [, locked] = await balances(fixture, 'ETH');
    expect(
      await refusal(
        ...posting('unlock', 1, [
          [assetId, 'AVAILABLE', locked],
          [assetId, 'LOCKED', -locked],
        ]),
      ),
    ).toMatch(/do not fit its state PENDING/);
  });
  test('that unlock an ended transfer again', async () => {
    await fixture.ledger.cancelTransfer({ txId });
    expect(
      await refusal(
        ...posting('unlock', 2, [
          [assetId, 'AVAILABLE', 1n],
          [assetId, 'LOCKED', -1n],
        ]),
      ),
    ).toMatch(/postings_that_end/);
    expect(
      await refusal(
        ...posting('settle', 2, [
          [null, 'EXTERNAL', 1n],
          [assetId, 'AVAILABLE', -1n],
        ]),
      ),
    ).toMatch(/postings_that_end/);
    expect(
      await refusal(
        ...posting('lock_more', 2, [
          [assetId, 'AVAILABLE', -1n],
          [assetId, 'LOCKED', 1n],
        ]),
      ),
    ).toMatch(/do not fit its state CANCELLED/);
  });
  test.each([
    'update ledger_entries set amount = amount + 1',
    'delete from ledger_entries',
    'truncate ledger_entries',
    'update ledger_postings set seq = 9',
    'delete from ledger_postings',
  ])('edited: %s', async (statement) => expect(await refusal(statement)).toMatch(/append-only/));
});

describe('balances', () => {
  test('written directly', async () => {
    expect(await refusal(`update ledger_accounts set available = available + 1 where ledger_account_id = '${assetId}'`)).toMatch(
      /by ledger entries only/,
    );
    expect(await refusal(`set local gateway.applying_entry = 'on'`, 'update ledger_accounts set locked = 0')).toMatch(
      /by ledger entries only/,
    );
  });
  test('set when the row is inserted', async () => {
    const { accountId, walletId, clientId } = fixture.account;
    const insert = (owner: string, available: number) =>
      `insert into ledger_accounts (ledger_account_id, account_id, wallet_id, client_id, chain, symbol, decimals, available)
       values ('${newId()}', '${accountId}', '${walletId}', '${owner}', 'ethereum', 'X', 6, ${available})`;
    expect(await refusal(insert(clientId, 1))).toMatch(/starts empty/);
    const stranger = await buildClient(fixture.database);
    expect(await refusal(insert(stranger.clientId, 0))).toMatch(/wallet and client of its account/);
  });
  test('of another token or precision', async () => {
    expect(await refusal(`update ledger_accounts set decimals = 6 where ledger_account_id = '${assetId}'`)).toMatch(
      /cannot change/,
    );
  });
});

describe('states', () => {
  test.each(['SUBMITTED', 'CONFIRMED', 'DETECTED', 'ORPHANED'])('PENDING to %s', async (status) => {
    expect(await refusal(setStatus(status))).toMatch(/cannot go from PENDING/);
  });
  test('SIGNING without the time it began', async () => {
    expect(await refusal(setStatus('SIGNING'))).toMatch(/signing_has_begun/);
  });
  test('an end without its posting', async () => {
    for (const status of ['CANCELLED', 'REJECTED', 'FAILED'])
      expect(await refusal(setStatus(status))).toMatch(/do not fit its state/);
  });
  test('an end after signing has begun', async () => {
    await sign(fixture, txId);
    const [, locked] = await balances(fixture, 'ETH');
    const unlock = posting('unlock', 2, [
      [assetId, 'AVAILABLE', locked],
      [assetId, 'LOCKED', -locked],
    ]);
    expect(await refusal(setStatus('FAILED'), ...unlock)).toMatch(/without an on-chain result/);
    expect(await refusal(setStatus('NEEDS_ATTENTION'), setStatus('CANCELLED'), ...unlock)).toMatch(/cannot end unexecuted/);
    expect(await refusal(`update transactions set signing_begun_at = null where tx_id = '${txId}'`)).toMatch(
      /cannot be undone|signing_has_begun/,
    );
  });
  test('a second end', async () => {
    await fixture.ledger.cancelTransfer({ txId });
    for (const status of ['PENDING', 'SIGNING', 'FAILED', 'CONFIRMED'])
      expect(await refusal(setStatus(status))).toMatch(/cannot go from CANCELLED/);
  });
  test('confirmed without anything having left', async () => {
    await sign(fixture, txId);
    const [, locked] = await balances(fixture, 'ETH');
    await include(fixture, txId, 1, { debited: ether });
    const block = `${await includedBlock(1)}, fee = 0`;
    expect(
      await refusal(
        setStatus('CONFIRMED', block),
        ...posting('settle', 2, [
          [assetId, 'AVAILABLE', locked],
          [assetId, 'LOCKED', -locked],
        ]),
      ),
    ).toMatch(/do not fit/);
  });
  test('a fee that was not posted', async () => {
    await sign(fixture, txId);
    const [, locked] = await balances(fixture, 'ETH');
    await include(fixture, txId, 1, { debited: ether });
    const block = `${await includedBlock(1)}, fee = 7`;
    const lines: Line[] = [
      [assetId, 'AVAILABLE', locked - ether],
      [assetId, 'LOCKED', -locked],
      [null, 'EXTERNAL', ether],
    ];
    expect(await refusal(setStatus('CONFIRMED', block), ...posting('settle', 2, lines))).toMatch(/do not fit/);
  });
  test('a version that skips or goes without a state', async () => {
    expect(await refusal(`update transactions set status = 'NEEDS_ATTENTION', version = 2 where tx_id = '${txId}'`)).toMatch(
      /version up by one/,
    );
    expect(await refusal(`update transactions set version = 1 where tx_id = '${txId}'`)).toMatch(/changes with its status only/);
  });
  test.each([
    'amount = amount + 1',
    `to_address = '0x00'`,
    'client_id = gen_random_uuid()',
    `token_symbol = 'USDC'`,
    'created_at = now()',
    `idempotency_key = 'x'`,
  ])('what it moves: %s', async (change) =>
    expect(await refusal(`update transactions set ${change} where tx_id = '${txId}'`)).toMatch(/cannot change|do not fit/),
  );
  test('a fee bound that was not locked', async () => {
    expect(await refusal(`update transactions set fee_locked = fee_locked + 1 where tx_id = '${txId}'`)).toMatch(/do not fit/);
  });
  test('a fee changed after the end', async () => {
    await fixture.ledger.cancelTransfer({ txId });
    expect(await refusal(`update transactions set fee_locked = 0 where tx_id = '${txId}'`)).toMatch(/has ended/);
  });
  test('inserted in another state than the first, or without its lock', async () => {
    const copy = (
      columns: string,
      values: string,
    ) => `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, from_address,
      to_address, to_address_key, token_symbol, decimals, amount, fee_symbol, fee_decimals, required_confirmations, ${columns})
      select '${newId()}', client_id, wallet_id, account_id, asset_id, chain, transaction_type, from_address, to_address, to_address_key, token_symbol,
      decimals, amount, fee_symbol, fee_decimals, 1, ${values} from transactions where tx_id = '${txId}'`;
    expect(await refusal(copy('status, version', `'CANCELLED', 0`))).toMatch(/start at its beginning/);
    expect(await refusal(copy('status, version', `'PENDING', 3`))).toMatch(/start at its beginning/);
    expect(await refusal(copy('status', `'PENDING'`))).toMatch(/do not fit its state PENDING/);
  });
  test('deleted, or its timeline edited', async () => {
    expect(await refusal('delete from transactions')).toMatch(/append-only/);
    expect(await refusal(`update transaction_events set status = 'CONFIRMED'`)).toMatch(/append-only/);
  });
});

describe('reservations and attempts', () => {
  const take = (resource: string, { of = txId, ordinal = 'null', owner = fixture.account.addressKey } = {}) =>
    `insert into reservations (chain, owner, resource, ordinal, tx_id) values ('ethereum', '${owner}', '${resource}', ${ordinal}, '${of}')`;
  const nonce = (ordinal: number, of = txId) => take(String(ordinal), { of, ordinal: String(ordinal) });
  /** Ties a resource to the first attempt of its transfer. */
  const use = (resource: string) =>
    fixture.database.query(
      'insert into attempt_reservations select tx_id, 1, reservation_id from reservations where resource = $1 and released_at is null',
      [resource],
    );
  const prove = (attempt: number) =>
    fixture.database.query(`update transfer_attempts set impossible_proof = '{"why":"test"}' where tx_id = $1 and attempt = $2`, [
      txId,
      attempt,
    ]);

  /** Uses nothing that the first one needs. */
  const insertSecondAttempt = `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound)
    select tx_id, 2, 'replacement', chain, prepared, unsigned, signers, 'another', 0 from transfer_attempts where attempt = 1`;

  test('before signing has begun, or for another address', async () => {
    expect(await refusal(nonce(0))).toMatch(/whose signing has begun/);
    expect(await refusal(take('a:0'))).toMatch(/whose signing has begun/);
    await sign(fixture, txId);
    expect(await refusal(take('a:0', { owner: '0x0000000000000000000000000000000000000001' }))).toMatch(/of that address/);
  });
  test('a resource twice, two nonces for one transfer, one given back', async () => {
    await sign(fixture, txId);
    const second = await fixture.ledger.lockTransfer(buildTransferRequest(fixture.account, ethereum));
    await sign(fixture, second.txId);
    expect(await refusal(nonce(0, second.txId))).toMatch(
      /reservations_held_once|reservations_by_ordinal|reservations_one_ordinal/,
    );
    expect(await refusal(nonce(9))).toMatch(/reservations_one_ordinal/);
    expect(await refusal('delete from reservations')).toMatch(/are kept/);
    expect(await refusal('update reservations set released_at = now()')).toMatch(/written once/);
    await fixture.database.query(take('a:0'));
    await use('a:0');
    expect(await refusal(take('a:0', { of: second.txId }))).toMatch(/reservations_held_once/);
  });
  test('an input: not given back while an attempt may use it, free for others afterwards', async () => {
    await sign(fixture, txId);
    await fixture.database.query(take('a:0'));
    await use('a:0');
    const release = `update reservations set released_at = now() where resource = 'a:0'`;
    expect(await refusal(release)).toMatch(/may still be used/);
    await prove(1);
    await fixture.database.query(release);
    expect(await refusal(`update reservations set released_at = null where resource = 'a:0'`)).toMatch(/written once/);
    const second = await fixture.ledger.lockTransfer(buildTransferRequest(fixture.account, ethereum));
    await sign(fixture, second.txId);
    await fixture.database.query(take('a:0', { of: second.txId }));
    await use('a:0');
  });
  test('where several endpoints are compared, the word of one of them neither ends anything nor gives an input back', async () => {
    await sign(fixture, txId);
    await fixture.database.query(take('a:0'));
    await use('a:0');
    await fixture.database.query(`update chain_cursors set agreed_to = 0 where chain = 'ethereum'`);
    await prove(1);
    const release = `update reservations set released_at = now() where resource = 'a:0'`;
    const fail = `update transactions set status = 'FAILED', version = version + 1 where tx_id = '${txId}'`;
    expect(await refusal(release)).toMatch(/may still be used/);
    expect(await refusal(fail)).toMatch(/without an on-chain result or a proof for every attempt/);
    expect(await refusal(insertSecondAttempt)).toMatch(/could be executed beside an earlier one/);
    await fixture.database.query(`update transfer_attempts set impossible_proof = '{"why":"test","agreed_by":2}'`);
    expect(await refusal(fail)).toMatch(/do not fit its state FAILED/);
    await fixture.database.query(insertSecondAttempt);
    await fixture.database.query(`update transfer_attempts set impossible_proof = '{"agreed_by":2}' where attempt = 2`);
    await fixture.database.query(release);
  });
  test('inputs that the executed attempt did not use are given back once it is final', async () => {
    await sign(fixture, txId);
    await sign(fixture, txId, 2, { maxFeePerGas: 2_300_000_000n });
    await fixture.database.query(take('unused:0'));
    await fixture.database.query(take('spent:0'));
    await use('unused:0');
    await fixture.database.query(
      `insert into attempt_reservations select tx_id, 2, reservation_id from reservations where resource = 'spent:0'`,
    );
    await include(fixture, txId, 2, { debited: ether });
    await fixture.ledger.settleTransfer({ txId });
    expect(await refusal(`update reservations set released_at = now() where resource = 'unused:0'`)).toMatch(/may still be used/);
    await fixture.database.transaction((manager) => finalize(manager, ethereum.name, 7));
    const rows = await fixture.database.query<{ resource: string; free: boolean }[]>(
      'select resource, released_at is not null as free from reservations order by reservation_id',
    );
    expect(rows.map(({ resource, free }) => [resource, free])).toEqual([
      ['0', false],
      ['unused:0', true],
      ['spent:0', false],
    ]);
  });
  test('an attempt that uses what another transfer has reserved, or of a transfer that has ended', async () => {
    await sign(fixture, txId);
    const second = await fixture.ledger.lockTransfer(buildTransferRequest(fixture.account, ethereum));
    await sign(fixture, second.txId);
    expect(
      await refusal(
        `insert into attempt_reservations select '${txId}', 1, reservation_id from reservations where tx_id = '${second.txId}'`,
      ),
    ).toMatch(/foreign key/);
    await include(fixture, txId, 1, { debited: usdc });
    await fixture.ledger.settleTransfer({ txId });
    expect(
      await refusal(
        `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound)
         values ('${txId}', 2, 'replacement', 'ethereum', '{}', '0x', '[]', 'k', 0)`,
      ),
    ).toMatch(/no open transaction/);
  });
  test('signed bytes or a proof replaced, attempts deleted, one message in two attempts', async () => {
    await begun(fixture, { txId });
    expect(await refusal(`update transfer_attempts set unsigned = '0x01'`)).toMatch(/written once/);
    expect(await refusal(`update transfer_attempts set message_key = 'other'`)).toMatch(/written once/);
    await fixture.database.query(`update transfer_attempts set signed = '0x01', tx_hash = '0x02', signed_at = now()`);
    expect(await refusal(`update transfer_attempts set signed = '0x03'`)).toMatch(/written once/);
    await prove(1);
    expect(await refusal(`update transfer_attempts set impossible_proof = '{}'`)).toMatch(/written once/);
    expect(await refusal('delete from transfer_attempts')).toMatch(/are kept/);
    expect(
      await refusal(
        `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound)
         select tx_id, 2, 'replacement', chain, prepared, unsigned, signers, message_key, 0 from transfer_attempts`,
      ),
    ).toMatch(/message_key/);
  });
  test('failed after signing has begun: only with a result or a proof for every attempt', async () => {
    const fail = `update transactions set status = 'FAILED', version = version + 1 where tx_id = '${txId}'`;
    await sign(fixture, txId);
    expect(await refusal(fail)).toMatch(/without an on-chain result or a proof for every attempt/);
    await prove(1);
    await sign(fixture, txId, 2, { maxFeePerGas: 2_300_000_000n });
    expect(await refusal(fail)).toMatch(/without an on-chain result or a proof for every attempt/);
    expect(await codeOf(fixture.ledger.failByProof({ txId }))).toBe('not_cancellable');
    await prove(2);
    expect(await refusal(fail)).toMatch(/do not fit its state FAILED/);
    await refuseAttempt(fixture.database, { txId, attempt: 2 });
    expect(await codeOf(fixture.ledger.failByProof({ txId }))).toBe('not_cancellable');
    await refuseAttempt(fixture.database, { txId, attempt: 3 });
    for (let times = 0; times < 2; times += 1)
      expect(await fixture.ledger.failByProof({ txId })).toEqual({ status: 'FAILED', code: 'stuck', reason: 'test' });
    expect(await differences(fixture)).toEqual([]);
  });
});

describe('an end on the chain', () => {
  const unsupported = /without an on-chain result or a proof for every attempt/;
  const unexecuted = /do not fit its state/;
  const end = async (status: string, attempt = 1) => refusal(setStatus(status, `${await includedBlock(attempt)}, fee = 0`));

  test('needs an attempt in the block that it names, not just a block', async () => {
    const hash = await sign(fixture, txId);
    const named = `, tx_hash = '${hash}', block_number = 7, block_hash = '${randomHash()}', fee = 0`;
    for (const status of ['CONFIRMED', 'FAILED']) expect(await refusal(setStatus(status, named))).toMatch(unsupported);
    await include(fixture, txId, 1, { debited: ether });
    for (const status of ['CONFIRMED', 'FAILED']) expect(await refusal(setStatus(status, named))).toMatch(unsupported);
  });

  test.each([
    ['executed', 'first', true, 'CONFIRMED', 'FAILED'],
    ['reverted', 'first', false, 'FAILED', 'CONFIRMED'],
    ['a cancellation', 'cancellation', true, 'FAILED', 'CONFIRMED'],
  ] as const)('%s: as the attempt says', async (_, kind, success, fits, refused) => {
    await sign(fixture, txId);
    const fees = { gasLimit: 21_000n, maxFeePerGas: 2_300_000_000n };
    if (kind === 'cancellation') {
      await recordAbandonRequest(fixture.database.manager, { txId, attempt: 1, operator: 'test' });
      await begun(fixture, { txId, attempt: 2, kind, fees });
    }
    const attempt = kind === 'cancellation' ? 2 : 1;
    await include(fixture, txId, attempt, { success, debited: success ? ether : null });
    expect(await end(refused, attempt)).toMatch(unsupported);
    // only its postings are missing
    expect(await end(fits, attempt)).toMatch(unexecuted);
  });

  test('moves to another block only with an attempt that stands there', async () => {
    await sign(fixture, txId);
    await include(fixture, txId, 1, { debited: ether });
    await fixture.ledger.settleTransfer({ txId });
    expect(await refusal(`update transactions set block_hash = 'other' where tx_id = '${txId}'`)).toMatch(unsupported);
  });

  test('by proof: not while an attempt is included, whose proof is false', async () => {
    await sign(fixture, txId);
    await fixture.database.query(`update transfer_attempts set impossible_proof = '{"why":"test"}'`);
    await include(fixture, txId, 1, { debited: ether });
    expect(await refusal(setStatus('FAILED'))).toMatch(unsupported);
    await refuseAttempt(fixture.database, { txId, attempt: 2 });
    expect(await codeOf(fixture.ledger.failByProof({ txId }))).toBe('not_cancellable');
    expect(await begin(fixture, { txId, attempt: 2, kind: 'reissue' })).toMatchObject({ outcome: 'refused' });
    await fixture.ledger.settleTransfer({ txId });
  });
});

describe('types of transactions', () => {
  test('are the same in the database and in the code, and every transaction repeats them', async () => {
    const rows = await fixture.database.query<Record<string, unknown>[]>('select * from transaction_types');
    const stored = rows.map((row) => [
      row.transaction_type,
      { direction: row.direction, isHeld: row.is_held, isSigned: row.is_signed, isOfHouse: row.is_of_house },
    ]);
    expect(Object.fromEntries(stored)).toEqual(transactionTypes);
    expect(await refusal(`update transactions set is_held = false where tx_id = '${txId}'`)).toMatch(/cannot change/);
    expect(await refusal(`delete from transaction_types`)).toMatch(/append-only/);
  });
});

test.each([
  ['GAS', 'a client'],
  ['GAS_TOPUP', 'a client'],
  ['OUTBOUND', 'the house'],
  ['X402_SETTLE', 'the house'],
  ['X402_SIGN', 'the house'],
])('a transaction of type %s does not belong to %s', async (type, owner) => {
  const clientId = owner === 'the house' ? houseClientId : fixture.client.clientId;
  const insert = `insert into transactions (tx_id, client_id, chain, transaction_type, from_address, to_address, token_symbol, decimals, amount,
    status, required_confirmations) values ('${newId()}', '${clientId}', 'ethereum', '${type}', '0x1', '0x2', 'ETH', 18, 1, 'PENDING', 1)`;
  expect(await refusal(insert)).toMatch(/does not belong to client/);
});

describe('a consolidation', () => {
  const insert = (changes: Record<string, string> = {}) => {
    const row: Record<string, string> = {
      ...{
        tx_id: `'${newId()}'`,
        transaction_type: `'CONSOLIDATION'`,
        to_address: 'from_address',
        to_address_key: `'k'`,
        amount: '0',
      },
      ...{ idempotency_key: 'null', ...changes },
    };
    const same = ['client_id', 'wallet_id', 'account_id', 'asset_id', 'chain', 'from_address', 'token_symbol', 'decimals'];
    const fee = ['fee_symbol', 'fee_decimals', 'fee_locked', 'status', 'required_confirmations'];
    const columns = [...Object.keys(row), ...same, ...fee].join(', ');
    const values = [...Object.values(row), ...same, 'token_symbol', 'decimals', '5', `'PENDING'`, '2'].join(', ');
    return `insert into transactions (${columns}) select ${values} from transactions where tx_id = '${txId}'`;
  };

  test('goes to its own account, and nothing else holds nothing', async () => {
    expect(await refusal(insert({ to_address: `'0x2'` }))).toMatch(/held_amount/);
    expect(await refusal(insert({ contract_address: `'0x2'` }))).toMatch(/held_amount/);
    expect(await refusal(insert({ to_address: `'0x2'`, transaction_type: `'OUTBOUND'` }))).toMatch(/held_amount/);
  });
  test('says what it joins, has its hold, and moves no amount', async () => {
    expect(await refusal(insert())).toMatch(/do not fit its state|does not say what it joins/);
    expect(await refusal(insert({ amount: '1' }))).toMatch(/do not fit its state|does not say what it joins/);
    expect(await refusal(`insert into consolidations values ('${txId}', 2, 1)`)).toMatch(/not that of its transaction/);
  });
});

describe('deposits', () => {
  test('the same place twice', async () => {
    const place = buildDeposit(fixture.account, ethereum, 'ETH', 5n);
    await recordDeposits(fixture.database.manager, ethereum, [place]);
    expect(
      await refusal(`insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, from_address, to_address, token_symbol,
        decimals, amount, status, tx_hash, position, block_number, block_hash, required_confirmations)
        select '${newId()}', client_id, wallet_id, account_id, asset_id, chain, 'INBOUND', from_address, to_address, token_symbol, decimals, amount, 'DETECTED',
        tx_hash, position, block_number, block_hash, 2 from transactions where tx_hash = '${place.txHash}'`),
    ).toMatch(/deposits_by_place/);
    expect(await refusal(`update transactions set status = 'CONFIRMED', version = 1 where tx_hash = '${place.txHash}'`)).toMatch(
      /do not fit its state CONFIRMED/,
    );
  });
});

describe('wallets and accounts', () => {
  test('the key of a wallet, the address of an account', async () => {
    expect(await refusal(`update wallets set public_key = '\\x${'02'.repeat(33)}'`)).toMatch(/written once/);
    expect(await refusal(`update accounts set address_key = '0x0'`)).toMatch(/written once/);
    const stranger = await buildWallet(fixture.database, await buildClient(fixture.database));
    expect(await refusal(`update accounts set wallet_id = '${stranger.walletId}'`)).toMatch(/written once/);
  });

  test('a wallet becomes active with the attestations of three nodes only', async () => {
    const walletId = newId();
    await fixture.database.query(`insert into wallets (wallet_id, client_id, wallet_name) values ($1, $2, 'w')`, [
      walletId,
      fixture.client.clientId,
    ]);
    const attest = (node: number) =>
      `insert into wallet_attestations (wallet_id, node, statement, signature) values ('${walletId}', ${node}, '{}', '${'A'.repeat(88)}')`;
    const activate = `update wallets set key_status = 'ACTIVE', key_id = 'k', public_key = '\\x${'02'.repeat(33)}',
      chain_code = '\\x${'02'.repeat(32)}' where wallet_id = '${walletId}'`;
    for (const node of [1, 2]) await fixture.database.query(attest(node));
    expect(await refusal(activate)).toMatch(/attestations of all three nodes/);
    expect(await refusal(attest(2))).toMatch(/duplicate key/);
    expect(await refusal(`update wallet_attestations set node = 3 where node = 2`)).toMatch(/append-only/);
    await fixture.database.query(attest(3));
    await fixture.database.query(activate);
  });
});

test('an attempt seen included does not by itself end anything', async () => {
  await sign(fixture, txId);
  await include(fixture, txId, 1);
  const [row] = await fixture.database.query<{ status: string }[]>(`select status from transactions where tx_id = '${txId}'`);
  expect(row?.status).toBe('SIGNING');
});
