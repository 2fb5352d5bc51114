import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { enabledChain } from '../accounts/service';
import type { GetFamily, ParsedAddress } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import type { ChainDefinition } from '../chains/types';
import { inTransaction } from '../platform/database';
import { GatewayError, invalidParameter, notFound } from '../platform/errors';
import { isUuid, newId } from '../platform/ids';
import { SettlerEntity } from '../settlers/entity';
import { readWithdrawal, storeWithdrawal } from '../settlers/withdrawals/request';
import { readPositiveAmount } from './amounts';
import { auditedOperation } from './audited-operation';
import { withReason } from './confirmation';
import { currentOperator } from './operator';

export interface WithdrawalOperation {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
  /** How long the worker is waited for. */
  waitMs: number;
}

export interface WithdrawalRequest {
  to: string;
  /** Display units; undefined: everything but what the fee may cost and what the chain has an account keep. */
  amount?: string;
  /** Of the operator, for the audit log. */
  reason?: string;
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

interface CheckedRequest {
  settlerId: string;
  chain: ChainDefinition;
  address: ParsedAddress;
  /** Atomic units; null: all. */
  atomic: bigint | null;
}

type ReadRequest = Pick<WithdrawalOperation, 'database' | 'registry' | 'getFamily'>;

async function readRequest(deps: ReadRequest, id: string, { to, amount }: WithdrawalRequest): Promise<CheckedRequest> {
  const settler = isUuid(id) ? await deps.database.manager.findOneBy(SettlerEntity, { settlerId: id }) : null;
  if (!settler) throw notFound(`settler ${id}`);
  const chain = enabledChain(deps.registry, settler.chain);
  const address = deps.getFamily(chain.family).parseAddress(to);
  if (!address) throw invalidParameter('--to', `is not a valid address on ${chain.name}`);
  if (address.key === settler.addressKey) throw invalidParameter('--to', 'is the settler itself');
  const atomic = amount === undefined ? null : readPositiveAmount('--amount', amount, chain.native);
  return { settlerId: settler.settlerId, chain, address, atomic };
}

/**
 * Whether the gateway would take such a request now; nothing is stored, and the signing nodes are not asked.
 * @throws GatewayError as withdrawFromSettler, for what is known before it is requested.
 */
export async function checkWithdrawal(deps: ReadRequest, id: string, request: WithdrawalRequest) {
  const { settlerId, address } = await readRequest(deps, id, request);
  await inTransaction(deps.database, (manager) => assertIsDrained(manager, settlerId, newId()));
  return { settler_id: settlerId, to_address: address.address, amount: request.amount ?? 'all', status: 'not requested' };
}

/**
 * Asks for coins of a drained settler; the worker makes the transaction. Request and audit row are committed together.
 * @throws GatewayError invalid_parameter; business_error while anything of the settler is open, for one that is not drained, and for what
 *   the settler does not have.
 */
export async function withdrawFromSettler(
  { database, registry, getFamily, waitMs }: WithdrawalOperation,
  id: string,
  request: WithdrawalRequest,
): Promise<Withdrawal> {
  const { settlerId, chain, address, atomic } = await readRequest({ database, registry, getFamily }, id, request);
  const withdrawalId = newId();
  const operator = currentOperator().id;
  const detail = { chain: chain.name, to_address: address.address, amount: request.amount ?? 'all', tx_id: withdrawalId };
  await auditedOperation(
    database,
    {
      action: 'settler.withdrawal_requested',
      clientId: null,
      subject: { type: 'settler', id: settlerId },
      detail: { ...detail, ...withReason(request.reason) },
    },
    async (manager) => {
      await assertIsDrained(manager, settlerId, withdrawalId);
      await storeWithdrawal(manager, {
        ...{ withdrawalId, settlerId, toAddress: address.address, toAddressKey: address.key, operator },
        amount: atomic,
      });
    },
  );
  const status = await untilMade(database.manager, withdrawalId, waitMs);
  return { tx_id: withdrawalId, settler_id: settlerId, to_address: address.address, status };
}

/** The database checks it again; here with a text for the operator. @throws GatewayError business_error. */
async function assertIsDrained(manager: EntityManager, settlerId: string, withdrawalId: string): Promise<void> {
  const [row] = await manager.query<{ status: string; is_idle: boolean; open: string | null }[]>(
    `select status, settler_is_idle(settler_id, $2) as is_idle,
            (select w.withdrawal_id from settler_withdrawals w left join transactions t on t.tx_id = w.withdrawal_id
              where w.settler_id = s.settler_id and w.refused is null and t.ended_at is null limit 1) as open
       from settlers s where settler_id = $1 for no key update`,
    [settlerId, withdrawalId],
  );
  if (row?.status !== 'DRAINING')
    throw new GatewayError('business_error', 'The settler is not drained: `gateway settlers drain`');
  if (row.open !== null)
    throw new GatewayError(
      'business_error',
      `Another withdrawal of the settler is open: ${row.open}. Unless its signing has begun, \`gateway transfers cancel\` ends it`,
    );
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
