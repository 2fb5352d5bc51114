import { randomBytes } from 'node:crypto';
import type { AccountEntity } from '../../../src/accounts/entity';
import { getFamily } from '../../../src/chains/families';
import type { Payment, PaymentRequest } from '../../../src/chains/payments';
import { toBytes } from '../../../src/chains/solana/codec/address';
import { toBase58 } from '../../../src/chains/solana/codec/base58';
import { associatedTokenAccount } from '../../../src/chains/solana/codec/token-account';
import { encodeLevels } from '../../../src/chains/solana/fees';
import { ChainRegistry, loadRegistry } from '../../../src/chains/registry';
import type { ChainDefinition, TokenDefinition } from '../../../src/chains/types';
import { withdrawFromSettler } from '../../../src/cli/settler-withdrawals';
import { WorkflowOutbox } from '../../../src/outbox/outbox';
import { newId } from '../../../src/platform/ids';
import { createLogger } from '../../../src/platform/logging';
import type { Settler } from '../../../src/settlers/attested';
import { reportSettlers } from '../../../src/settlers/report';
import { getSupply } from '../../../src/settlers/supply';
import { readWithdrawal } from '../../../src/settlers/withdrawals/request';
import { sendRequestedWithdrawals } from '../../../src/settlers/withdrawals/send';
import { StartLimits } from '../../../src/transfers/start/start-limits';
import type { ServedChain } from '../../../src/x402/served';
import { acceptSettlement as accept } from '../../../src/x402/settlement/accept';
import { fundAccount, randomAddress, setFeeLevels } from '../../factories';
import { roomyStartLimits } from '../../ledger';
import { solanaCodec, usdcMint } from '../../solana';
import { createFixture, ether, type Fixture } from '../ledger/fixture';
import { allowSettling, buildSettler } from '../x402/settlement-fixture';

/** Coins of settlers on Solana: their withdrawals, what becomes of those of another chain meanwhile, and what the chain has them keep. */

const registry = new ChainRegistry(loadRegistry('local', ['ethereum', 'solana']).all);
const [ethereum, solana] = [registry.get('ethereum'), registry.get('solana')];
const sol = 1_000_000_000n;
const treasury = solanaCodec.address(Buffer.alloc(32, 0x22)).address;
/** Of a program, and on no curve. */
const vault = toBase58(associatedTokenAccount(toBytes(treasury), toBytes(usdcMint), 'token'));

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture({ poolSize: 5 });
});
afterEach(() => fixture.close());

const query = <T>(sql: string, values: unknown[] = []): Promise<T[]> => fixture.database.query<T[]>(sql, values);
const send = () => sendRequestedWithdrawals({ database: fixture.database, registry, getFamily });
const state = (id: string) => readWithdrawal(fixture.database.manager, id);
const setSolanaLevels = () =>
  query(
    `insert into chain_cursors (chain, caip2, next_block, head_block, fee_levels, fee_levels_at) values ($1, $2, 1, 0, $3::jsonb, now())`,
    [solana.name, solana.caip2, JSON.stringify(encodeLevels({ price: 10_000n }))],
  );

/** Drained long enough ago. */
async function drained(chain: ChainDefinition, symbol: string, amount: bigint): Promise<[string, AccountEntity]> {
  const { settler, account } = await buildSettler(fixture.database, chain);
  await fundAccount(fixture.database, account, chain, symbol, amount);
  await query(`update settlers set status = 'DRAINING' where settler_id = $1`, [settler.settlerId]);
  await fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query(`update settlers set draining_since = draining_since - interval '11 seconds' where settler_id = $1`, [
      settler.settlerId,
    ]);
  });
  return [settler.settlerId, account];
}

async function ask(settlerId: string, to: string, amount?: string): Promise<string> {
  const operation = { database: fixture.database, registry, getFamily, waitMs: 0 };
  const { tx_id: txId } = await withdrawFromSettler(operation, settlerId, { to, ...(amount !== undefined && { amount }) });
  return txId;
}

test('an address of a program is paid: the signing nodes have a list of the addresses that are', async () => {
  await setSolanaLevels();
  const [settler] = await drained(solana, 'SOL', sol);
  const txId = await ask(settler, vault, '0.5');
  await send();
  expect(await query('select to_address, amount, allow_program_address from transactions where tx_id = $1', [txId])).toEqual([
    { to_address: vault, amount: (sol / 2n).toString(), allow_program_address: true },
  ]);
});

test('what can never be made is refused, and keeps no later one waiting', async () => {
  await Promise.all([setSolanaLevels(), setFeeLevels(fixture.database, ethereum)]);
  const [settler, account] = await drained(solana, 'SOL', sol);
  const never = newId();
  // the command would refuse it at once
  await query(
    `insert into settler_withdrawals (withdrawal_id, settler_id, to_address, to_address_key, operator) values ($1, $2, $3, $4, 'x')`,
    [never, settler, account.address, account.addressKey],
  );
  const [other] = await drained(ethereum, 'ETH', ether);
  const later = await ask(other, randomAddress());
  await send();
  expect(await state(never)).toEqual({ status: null, refused: expect.stringMatching(/to the account itself/) });
  expect(await state(later)).toEqual({ status: 'PENDING', refused: null });
  // the settler is free again
  await query(`update settlers set status = 'ACTIVE' where settler_id = $1`, [settler]);
});

test('what waits for the fees of its chain keeps no other one waiting', async () => {
  await setFeeLevels(fixture.database, ethereum);
  const [settler] = await drained(solana, 'SOL', sol);
  const waiting = await ask(settler, treasury, '0.5');
  const [other] = await drained(ethereum, 'ETH', ether);
  const later = await ask(other, randomAddress());
  await expect(send()).rejects.toThrow(/1 of 2 withdrawals/);
  expect(await state(later)).toEqual({ status: 'PENDING', refused: null });
  expect(await state(waiting)).toEqual({ status: null, refused: null });
  await setSolanaLevels();
  await send();
  expect(await state(waiting)).toEqual({ status: 'PENDING', refused: null });
});

describe('the chain has a fee payer keep 890,880 lamports, and they', () => {
  const kept = 890_880n;

  test('stay when everything is withdrawn', async () => {
    await setSolanaLevels();
    const [settler] = await drained(solana, 'SOL', sol);
    const txId = await ask(settler, treasury);
    await send();
    const [made] = await query<{ amount: string; fee_locked: string }>(
      'select amount, fee_locked from transactions where tx_id = $1',
      [txId],
    );
    expect(BigInt(made?.amount ?? 0) + BigInt(made?.fee_locked ?? 0)).toBe(sol - kept);
  });

  test('are not withdrawn by a stated amount either', async () => {
    await setSolanaLevels();
    const [settler] = await drained(solana, 'SOL', sol);
    const txId = await ask(settler, treasury, '0.9995');
    await send();
    expect(await state(txId)).toEqual({ status: null, refused: expect.stringMatching(/what the chain has it keep/) });
  });

  test('pay for no settlement: the settler is dry with no more than them', async () => {
    const { settler, account } = await buildSettler(fixture.database, solana);
    const supply = async () => {
      const [report] = await reportSettlers(fixture.database.manager, getFamily, solana.name);
      return report && { balance: report.balance, spendable: report.spendable, supply: getSupply(report) };
    };
    await fundAccount(fixture.database, account, solana, 'SOL', kept);
    expect(await supply()).toEqual({ balance: kept, spendable: 0n, supply: 'dry' });
    const clientId = fixture.client.clientId;
    await allowSettling(fixture.database, { clientId, chain: solana.name });
    const { address, addressKey, accountId } = account;
    const candidate = { ...settler, accountId, address, addressKey, isActive: true };
    const pay = (amount: bigint) => acceptSettlement(clientId, candidate, amount);
    // the highest fee of a settlement
    await fundAccount(fixture.database, account, solana, 'SOL', 29_999n);
    expect(await pay(1n)).toMatchObject({ outcome: 'refused', cause: expect.stringMatching(/no settler has the coins/) });
    await fundAccount(fixture.database, account, solana, 'SOL', 1n);
    expect(await pay(1n)).toMatchObject({ outcome: 'accepted' });
    expect(await supply()).toMatchObject({ balance: kept + 30_000n, spendable: 30_000n });
  });
});

/** What /settle does once a payment was found good. */
function acceptSettlement(clientId: string, settler: Settler, amount: bigint) {
  const { database } = fixture;
  const outbox = new WorkflowOutbox(database, unstarted, createLogger('test', 'silent'));
  const starts = new StartLimits(roomyStartLimits, () => Promise.resolve(new Map()));
  const identity = randomBytes(32).toString('hex');
  const token = solana.tokens[0] as TokenDefinition;
  const payment: Payment = {
    ...{ method: 'transaction', chain: solana, token, payer: vault, payTo: treasury, authorised: amount, amount, identity },
    ...{ nonce: identity, validAfter: 0n, validBefore: 4_000_000_000n, lastSecond: 4_000_000_000n, signature: '0x00' },
    ...{ isWrapped: false, domain: null, facilitator: settler.address, sponsoring: { type: 'none' } },
  };
  const key = {
    chain: solana.name,
    payloadType: 'transaction',
    identity,
    requestHash: randomBytes(32),
    termsHash: null,
    paymentId: null,
  };
  const askedBy = { clientId, userId: newId(), requestId: newId() };
  const request = { version: 2, scheme: 'exact', chain: solana } as Partial<PaymentRequest> as PaymentRequest;
  const served = { chain: solana, settlers: [settler] } as Partial<ServedChain> as ServedChain;
  return accept({ database, getFamily, starts, outbox }, askedBy, request, key, { payment, settler, served, topUp: 0n });
}
const delivered = () => Promise.resolve('delivered' as const);
/** No workflow is started. */
const unstarted = {
  ...{ start_transfer: delivered, start_key_generation: delivered, transfer_ended: delivered, transfer_approved: delivered },
};
