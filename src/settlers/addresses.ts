import { type EntityManager, In } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import type { OwnAddresses } from '../accounts/own-addresses';
import type { SettlerEntity } from './entity';

export interface AddressedSettler {
  settler: SettlerEntity;
  /** In the form shown to clients; null: it is not the one that the signing nodes attest. Coins must not be sent to it. */
  address: string | null;
}

/** With the addresses of their accounts; one that is not attested raises an alarm. */
export async function withAddresses(
  manager: EntityManager,
  addresses: OwnAddresses,
  settlers: SettlerEntity[],
): Promise<AddressedSettler[]> {
  const accounts = await manager.findBy(AccountEntity, { accountId: In(settlers.map(({ accountId }) => accountId)) });
  const own = await addresses.verified(manager, accounts);
  const byId = new Map(accounts.map((account) => [account.accountId, account]));
  return settlers.map((settler) => {
    const account = byId.get(settler.accountId);
    const isOwn = account !== undefined && own.has(account.accountId) && account.addressKey === settler.addressKey;
    return { settler, address: isOwn ? account.address : null };
  });
}
