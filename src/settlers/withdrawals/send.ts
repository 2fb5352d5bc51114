import type { DataSource, EntityManager } from 'typeorm';
import { AccountEntity } from '../../accounts/entity';
import type { GetFamily } from '../../chains/family';
import type { ChainRegistry } from '../../chains/registry';
import { readUncovered } from '../../ledger/posting';
import { inTransaction } from '../../platform/database';
import { GatewayError } from '../../platform/errors';
import { withdrawalType } from '../../transactions/types';
import { storeNative } from '../../transfers/accept/store-native';
import { refuseRequest, tryLockRequest } from './request';

export interface WithdrawalDependencies {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
}

/** Requests of one round: a settler has one at most, and there are few settlers. */
const batch = 100;

interface RequestedRow {
  withdrawal_id: string;
  settler_id: string;
  to_address: string;
  amount: string | null;
  chain: string;
  account_id: string;
  ledger_account_id: string | null;
  available: string;
  is_idle: boolean;
}

/**
 * Makes the transactions that operators have asked for: row, hold and start of the workflow in one database transaction for each. One that
 * cannot be made is refused, on record, and the operator asks anew. One that may be made later, such as while the fees of its chain are not
 * known, keeps no other one waiting.
 * @throws AggregateError of what has failed, once all were tried: those are tried again.
 */
export async function sendRequestedWithdrawals(deps: WithdrawalDependencies): Promise<void> {
  const open = await deps.database.query<{ withdrawal_id: string }[]>(
    `select withdrawal_id from settler_withdrawals where refused is null and not is_made and orders_are_compared()
      order by requested_at limit $1`,
    [batch],
  );
  const failures: unknown[] = [];
  for (const { withdrawal_id: id } of open) await sendWithdrawal(deps, id).catch((error: unknown) => failures.push(error));
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} of ${open.length} withdrawals cannot be made now`);
}

async function sendWithdrawal({ database, ...chains }: WithdrawalDependencies, id: string): Promise<void> {
  try {
    await inTransaction(database, (manager) => make(manager, chains, id));
  } catch (error) {
    const reason = whyNever(error);
    if (reason === null) throw error;
    await refuseRequest(database.manager, id, reason);
  }
}

/** null: it may be made later. */
function whyNever(error: unknown): string | null {
  // the balance has changed since it was read
  if (readUncovered(error)) return notEnough;
  return error instanceof GatewayError && !error.retryable ? error.message : null;
}

const notEnough = 'the settler does not have the amount, the highest fee, and what the chain has it keep';

async function make(
  manager: EntityManager,
  { registry, getFamily }: Pick<WithdrawalDependencies, 'registry' | 'getFamily'>,
  id: string,
): Promise<void> {
  // another worker makes it, or an operator takes it back: nobody waits for that, the next round looks again
  if (!(await tryLockRequest(manager, id))) return;
  const row = await findRequested(manager, id);
  if (!row) return;
  const chain = registry.find(row.chain);
  if (!chain) return refuseRequest(manager, id, `chain ${row.chain} is not enabled`);
  if (!row.is_idle) return refuseRequest(manager, id, 'something of the settler is open');
  const family = getFamily(chain.family);
  const to = family.parseAddress(row.to_address);
  if (!to) return refuseRequest(manager, id, `${row.to_address} is no address on ${chain.name}`);
  const account = await manager.findOneByOrFail(AccountEntity, { accountId: row.account_id });
  const source = { chain: chain.name, accountId: account.accountId, addressKey: account.addressKey };
  const outputs = [{ recipient: to.address, tokenContract: null, amount: BigInt(row.available) }];
  // each signing node has a list of the addresses that are paid
  const allowsProgram = family.hasProgramAddresses === true;
  const feeLocked = await family.bound(manager, { chain, source, token: chain.native, outputs, allowsProgram });
  const most = BigInt(row.available) - feeLocked - (family.minimumBalance ?? 0n);
  const amount = row.amount === null ? most : BigInt(row.amount);
  const { ledger_account_id: assetId } = row;
  if (assetId === null || amount <= 0n || amount > most) return refuseRequest(manager, id, notEnough);
  await storeNative(manager, {
    ...{ txId: id, transactionType: withdrawalType, chain, account, assetId, to, amount, feeLocked },
    ...{ allowsProgram, needsNoRoom: true },
  });
}

/** undefined: it is made or refused. */
async function findRequested(manager: EntityManager, id: string): Promise<RequestedRow | undefined> {
  const [row] = await manager.query<RequestedRow[]>(
    `select w.withdrawal_id, w.settler_id, w.to_address, w.amount, s.chain, s.account_id, l.ledger_account_id,
            coalesce(l.available, 0)::text as available, settler_is_idle(s.settler_id, w.withdrawal_id) as is_idle
       from settler_withdrawals w join settlers s using (settler_id)
       left join ledger_accounts l on l.account_id = s.account_id and l.chain = s.chain and l.contract_address is null
      where w.withdrawal_id = $1 and w.refused is null and not w.is_made`,
    [id],
  );
  return row;
}
