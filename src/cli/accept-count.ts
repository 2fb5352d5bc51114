import type { DataSource } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import { enabledChain } from '../accounts/service';
import type { ChainRegistry } from '../chains/registry';
import type { CountUsed } from '../transfers/rebuild/missing-ordinals';
import { dropDoubtedOrdinal, dropPastDoubt, recordForeignOrdinals } from '../chains/reservations';
import { invalidParameter, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { auditedOperation } from './audited-operation';
import { withReason } from './confirmation';

/** What an operator has looked at, after `account_used_elsewhere`. */
export interface AcceptedCount {
  accountId: string;
  /** Name of the chain. */
  chain: string;
  /** Transactions of the address that the gateway takes for executed, whoever has sent them. */
  count: string;
  /** Of the operator, for the audit log. */
  reason?: string | undefined;
  /** Everything is checked, and nothing is written. */
  dryRun?: boolean;
}

/**
 * Lets the account be used again although the chain has executed `count` transactions of its address, of which the gateway does not have
 * all: no nonce below is taken any more. Later ones are an alarm again. Not more than are final on the chain: a nonce that nobody has
 * used would be left out, and every later transaction of the account would wait for it. A higher count that was reported, and has not become
 * final within an hour, is dropped when all final ones are accepted.
 * @throws GatewayError not_found; chain_unavailable; invalid_parameter for another chain, or a count above the chain's.
 */
export async function acceptCount(
  database: DataSource,
  registry: ChainRegistry,
  countUsed: CountUsed,
  { accountId, chain: name, count, reason, dryRun = false }: AcceptedCount,
): Promise<AcceptedCount> {
  const account = isUuid(accountId) ? await database.manager.findOneBy(AccountEntity, { accountId }) : null;
  if (!account) throw notFound(`account ${accountId}`);
  const { clientId, family, address, addressKey } = account;
  const chain = enabledChain(registry, name);
  if (chain.family !== family) throw invalidParameter('chain', `must be one of the ${family} chains`);
  if (!/^(?:0|[1-9]\d{0,14})$/.test(count)) throw invalidParameter('count', 'must be a whole number');
  const used = await countUsed(chain, address);
  if (used === null) throw invalidParameter('chain', 'must be one that counts the transactions of an address');
  if (BigInt(count) > used)
    throw invalidParameter('count', `must be at most ${used}: so many transactions of ${address} are final on ${chain.name}`);
  if (count === '0' && used > 0n) throw invalidParameter('count', 'can be 0 only where no transaction of the address is final');
  if (dryRun) return { accountId, chain: chain.name, count };
  const event = { action: 'account.count_accepted', clientId, subject: { type: 'account', id: accountId } } as const;
  const owner = { chain: chain.name, addressKey };
  await auditedOperation(database, { ...event, detail: { chain: chain.name, count, ...withReason(reason) } }, async (manager) => {
    if (count !== '0') await recordForeignOrdinals(manager, owner, BigInt(count));
    await dropDoubtedOrdinal(manager, owner, BigInt(count));
    // a higher count was false, or its transactions were taken back: with all that are final accepted, nothing is left to look at
    if (BigInt(count) === used) await dropPastDoubt(manager, owner);
  });
  return { accountId, chain: chain.name, count };
}
