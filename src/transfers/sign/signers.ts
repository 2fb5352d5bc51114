import { type EntityManager, In } from 'typeorm';
import { AccountEntity } from '../../accounts/entity';
import type { SigningPayload } from '../../chains/family';
import type { ChainDefinition } from '../../chains/types';
import type { Signer } from '../../messages/signing';
import type { TransactionEntity } from '../../transactions/entity';

/**
 * The keys of a client's accounts that sign the payloads, each with its digests.
 * @throws Error when a payload needs the signature of an address that is no account of the client.
 */
export async function findSigners(
  manager: EntityManager,
  clientId: string,
  chain: ChainDefinition,
  payloads: SigningPayload[],
): Promise<Signer[]> {
  const addressKeys = [...new Set(payloads.map(({ signer }) => signer))];
  const accounts = await manager.findBy(AccountEntity, { clientId, family: chain.family, addressKey: In(addressKeys) });
  return addressKeys.map((addressKey) => {
    const account = accounts.find((candidate) => candidate.addressKey === addressKey);
    if (!account) throw new Error(`${addressKey} is not an account of the client and cannot sign`);
    const digests = payloads.filter(({ signer }) => signer === addressKey).map(({ digest }) => digest);
    return { keyId: account.keyId, path: account.derivationPath, protocol: account.keyProtocol, digests };
  });
}

/** The sending account of a client's own transfer. @throws Error when the row names another sender. */
export async function getAccount(
  manager: EntityManager,
  { txId, clientId, accountId, senderAddress }: TransactionEntity,
): Promise<AccountEntity> {
  if (accountId === null || senderAddress !== null) throw new Error(`transfer ${txId} is not from an account of its client`);
  return manager.findOneByOrFail(AccountEntity, { accountId, clientId });
}
