import type { DataSource } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import { enabledChain } from '../accounts/service';
import type { ChainRegistry } from '../chains/registry';
import { recordForeignOrdinals } from '../chains/reservations';
import { invalidParameter, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { auditedOperation } from './audited-operation';

/** What an operator has looked at, after `account_used_elsewhere`. */
export interface AcceptedCount {
  accountId: string;
  /** Name of the chain. */
  chain: string;
  /** Transactions of the address that the chain may report, at most. */
  count: string;
}

/**
 * Lets the account be used again although the chain has executed up to `count` transactions of its address, of which the gateway does not
 * have all. Later ones are an alarm again.
 * @throws GatewayError not_found; invalid_parameter for another chain or count.
 */
export async function acceptCount(
  database: DataSource,
  registry: ChainRegistry,
  { accountId, chain: name, count }: AcceptedCount,
): Promise<AcceptedCount> {
  const account = isUuid(accountId) ? await database.manager.findOneBy(AccountEntity, { accountId }) : null;
  if (!account) throw notFound(`account ${accountId}`);
  const { clientId, family, addressKey } = account;
  const chain = enabledChain(registry, name);
  if (chain.family !== family) throw invalidParameter('chain', `must be one of the ${family} chains`);
  if (!/^[1-9]\d{0,14}$/.test(count)) throw invalidParameter('count', 'must be a whole number from 1');
  const event = { action: 'account.count_accepted', clientId, subject: { type: 'account', id: accountId } } as const;
  await auditedOperation(database, { ...event, detail: { chain: chain.name, count } }, (manager) =>
    recordForeignOrdinals(manager, { chain: chain.name, addressKey }, BigInt(count)),
  );
  return { accountId, chain: chain.name, count };
}
