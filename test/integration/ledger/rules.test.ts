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
import { recordDeposits } from '../../../src/deposits/service';
import { newId } from '../../../src/platform/ids';
import { balances, createBench, differences, ether, ethereum, fund, include, sign, type Bench } from './fixture';

/** Every rule of the schema, attacked with raw SQL as its owner: what the code could do wrong, the database refuses. */

let bench: Bench;
let txId: string;
let assetId: string;

beforeEach(async () => {
  bench = await createBench({ poolSize: 3 });
  await fund(bench, 'ETH', 10n * ether);
  const request = buildTransferRequest(bench.account, ethereum);
  ({ txId } = await bench.ledger.lockTransfer(request));
  assetId = (await ledgerAccountOf(bench.database, bench.account, ethereum, 'ETH')).ledgerAccountId;
});
afterEach(async () => {
  expect(await differences(bench)).toEqual([]);
  await bench.close();
});

/** Runs statements in one transaction and returns why it was refused. */
async function refusal(...statements: string[]): Promise<string> {
  try {
    await bench.database.transaction(async (manager) => {
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
    const [{ posting_id: id }] = await bench.database.query<[{ posting_id: string }]>(
      `select posting_id from ledger_postings where tx_id = '${txId}'`,
    );
    expect(
      await refusal(
        `insert into ledger_entries values ('${id}', 8, '${assetId}', 'AVAILABLE', 'ethereum', 'ETH', 5), ('${id}', 9, null, 'EXTERNAL', 'ethereum', 'ETH', -5)`,
      ),
    ).toMatch(/not complete/);
  });
  test('on an account that is not of the transaction', async () => {
    const other = await buildAccount(bench.database, bench.wallet, ethereum);
    await fundAccount(bench.database, other, ethereum, 'ETH', 5n);
    const { ledgerAccountId } = await ledgerAccountOf(bench.database, other, ethereum, 'ETH');
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
  test('of nothing', async () => {
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
    const [, locked] = await balances(bench, 'ETH');
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
    await bench.ledger.cancelTransfer({ txId });
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
  test('given at birth', async () => {
    const { accountId, walletId, clientId } = bench.account;
    const insert = (owner: string, available: number) =>
      `insert into ledger_accounts (ledger_account_id, account_id, wallet_id, client_id, chain, symbol, decimals, available)
       values ('${newId()}', '${accountId}', '${walletId}', '${owner}', 'ethereum', 'X', 6, ${available})`;
    expect(await refusal(insert(clientId, 1))).toMatch(/starts empty/);
    const stranger = await buildClient(bench.database);
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
    await sign(bench, txId);
    const [, locked] = await balances(bench, 'ETH');
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
    await bench.ledger.cancelTransfer({ txId });
    for (const status of ['PENDING', 'SIGNING', 'FAILED', 'CONFIRMED'])
      expect(await refusal(setStatus(status))).toMatch(/cannot go from CANCELLED/);
  });
  test('confirmed without anything having left', async () => {
    const hash = await sign(bench, txId);
    const [, locked] = await balances(bench, 'ETH');
    const block = `, tx_hash = '${hash}', block_number = 7, block_hash = '${randomHash()}', fee = 0`;
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
    const hash = await sign(bench, txId);
    const [, locked] = await balances(bench, 'ETH');
    const block = `, tx_hash = '${hash}', block_number = 7, block_hash = '${randomHash()}', fee = 7`;
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
    await bench.ledger.cancelTransfer({ txId });
    expect(await refusal(`update transactions set fee_locked = 0 where tx_id = '${txId}'`)).toMatch(/has ended/);
  });
  test('born elsewhere than at the beginning, or without its lock', async () => {
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

describe('nonces and attempts', () => {
  const take = (nonce: number, of = txId) =>
    `insert into nonces (chain, address_key, nonce, tx_id) values ('ethereum', '${bench.account.addressKey}', ${nonce}, '${of}')`;

  test('a nonce before signing has begun', async () => {
    expect(await refusal(take(0))).toMatch(/whose signing has begun/);
  });
  test('a nonce twice, two nonces for one transfer, one given back', async () => {
    await sign(bench, txId);
    const second = await bench.ledger.lockTransfer(buildTransferRequest(bench.account, ethereum));
    await sign(bench, second.txId);
    expect(await refusal(take(0, second.txId))).toMatch(/nonces_pkey|nonces_tx_id_key/);
    expect(await refusal(take(9))).toMatch(/nonces_tx_id_key/);
    expect(await refusal('delete from nonces')).toMatch(/append-only/);
    expect(await refusal(`update nonces set nonce = 9 where tx_id = '${txId}'`)).toMatch(/append-only/);
  });
  test('an attempt with another nonce than its transfer’s', async () => {
    await sign(bench, txId);
    expect(
      await refusal(
        `insert into transfer_attempts (tx_id, attempt, kind, chain, from_key, nonce, unsigned, fee_bound) values ('${txId}', 2, 'replacement', 'ethereum', '${bench.account.addressKey}', 1, '0x', 0)`,
      ),
    ).toMatch(/foreign key/);
  });
  test('signed bytes exchanged, attempts deleted, inclusion of what was never signed', async () => {
    await bench.ledger.beginSigning({
      txId,
      attempt: 1,
      fees: { gasLimit: '21000', maxFeePerGas: '2', maxPriorityFeePerGas: '1', gasPrice: null, l1DataFee: '0', minedNonce: 0 },
    });
    expect(await refusal(`update transfer_attempts set block_number = 1, block_hash = 'x', success = true, fee = 1`)).toMatch(
      /check/,
    );
    expect(await refusal(`update transfer_attempts set unsigned = '0x01'`)).toMatch(/written once/);
    await bench.database.query(`update transfer_attempts set signed = '0x01', tx_hash = '0x02', signed_at = now()`);
    expect(await refusal(`update transfer_attempts set signed = '0x03'`)).toMatch(/written once/);
    expect(await refusal('delete from transfer_attempts')).toMatch(/are kept/);
  });
});

describe('deposits', () => {
  test('the same place twice', async () => {
    const place = buildDeposit(bench.account, ethereum, 'ETH', 5n);
    await recordDeposits(bench.database.manager, ethereum, [place]);
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
    const stranger = await buildWallet(bench.database, await buildClient(bench.database));
    expect(await refusal(`update accounts set wallet_id = '${stranger.walletId}'`)).toMatch(/written once/);
  });
});

test('an attempt seen included does not by itself end anything', async () => {
  await sign(bench, txId);
  await include(bench, txId, 1);
  const [row] = await bench.database.query<{ status: string }[]>(`select status from transactions where tx_id = '${txId}'`);
  expect(row?.status).toBe('SIGNING');
});
