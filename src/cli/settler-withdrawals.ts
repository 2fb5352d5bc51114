import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { enabledChain } from '../accounts/service';
import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import { GatewayError, invalidParameter, notFound } from '../platform/errors';
import { isUuid, newId } from '../platform/ids';
import { SettlerEntity } from '../settlers/entity';
import { readWithdrawal, storeWithdrawal } from '../settlers/withdrawals/request';
import { readPositiveAmount } from './amounts';
import { auditedOperation } from './audited-operation';
import { currentOperator } from './operator';

export interface WithdrawalOperation {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
  /** How long the worker is waited for. */
  waitMs: number;
}

export interface Withdrawal {
  /** Of the withdrawal and of its transaction. */
  tx_id: string;
  settler_id: string;
  to_address: string;
  /** Of the transaction; `requested` as long as no worker has made it. */
  status: string;
}

const pollMs = 200;

/**
 * Asks for coins of a drained settler; the worker makes the transaction. Request and audit row are committed together.
 * @param amount display units; undefined: everything but what the fee may cost and what the chain has an account keep
 * @throws GatewayError invalid_parameter; business_error while anything of the settler is open, for one that is not drained, and for what
 *   the settler does not have.
 */
export async function withdrawFromSettler(
  { database, registry, getFamily, waitMs }: WithdrawalOperation,
  id: string,
  { to, amount }: { to: string; amount?: string },
): Promise<Withdrawal> {
  const settler = isUuid(id) ? await database.manager.findOneBy(SettlerEntity, { settlerId: id }) : null;
  if (!settler) throw notFound(`settler ${id}`);
  const { settlerId } = settler;
  const chain = enabledChain(registry, settler.chain);
  const address = getFamily(chain.family).parseAddress(to);
  if (!address) throw invalidParameter('--to', `is not a valid address on ${chain.name}`);
  if (address.key === settler.addressKey) throw invalidParameter('--to', 'is the settler itself');
  const withdrawalId = newId();
  const operator = currentOperator().id;
  await auditedOperation(
    database,
    {
      action: 'settler.withdrawal_requested',
      clientId: null,
      subject: { type: 'settler', id: settlerId },
      detail: { chain: chain.name, to_address: address.address, amount: amount ?? 'all', tx_id: withdrawalId },
    },
    async (manager) => {
      await assertIsDrained(manager, settlerId, withdrawalId);
      await storeWithdrawal(manager, {
        ...{ withdrawalId, settlerId, toAddress: address.address, toAddressKey: address.key, operator },
        amount: amount === undefined ? null : readPositiveAmount('--amount', amount, chain.native),
      });
    },
  );
  const status = await untilMade(database.manager, withdrawalId, waitMs);
  return { tx_id: withdrawalId, settler_id: settlerId, to_address: address.address, status };
}

/** The database checks it again; here with a text for the operator. @throws GatewayError business_error. */
async function assertIsDrained(manager: EntityManager, settlerId: string, withdrawalId: string): Promise<void> {
  const [row] = await manager.query<{ status: string; is_idle: boolean; is_open: boolean }[]>(
    `select status, settler_is_idle(settler_id, $2) as is_idle, withdrawal_is_open(settler_id) as is_open
       from settlers where settler_id = $1 for no key update`,
    [settlerId, withdrawalId],
  );
  if (row?.status !== 'DRAINING')
    throw new GatewayError('business_error', 'The settler is not drained: `gateway settlers drain`');
  if (row.is_open) throw new GatewayError('business_error', 'Another withdrawal of the settler is open');
  if (!row.is_idle)
    throw new GatewayError('business_error', 'Something of the settler is open, or it was drained less than 10 seconds ago');
}

async function untilMade(manager: EntityManager, withdrawalId: string, waitMs: number): Promise<string> {
  for (const until = Date.now() + waitMs; ; await delay(pollMs)) {
    const { status, refused } = await readWithdrawal(manager, withdrawalId);
    if (refused !== null) throw new GatewayError('business_error', `Nothing is withdrawn: ${refused}`);
    if (status !== null) return status;
    if (Date.now() > until) return 'requested';
  }
}
