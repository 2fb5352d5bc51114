import type { EntityManager } from 'typeorm';
import type { OwnAddresses } from '../accounts/own-addresses';
import { CachedValue } from '../platform/cached-value';
import { withAddresses } from './addresses';
import { SettlerEntity } from './entity';

/** A settler at an address that the signing nodes attest. */
export interface Settler {
  settlerId: string;
  accountId: string;
  chain: string;
  /** In the form shown to clients, and in canonical form. */
  address: string;
  addressKey: string;
  /** It takes new payments. */
  isActive: boolean;
  isPrimary: boolean;
}

/** Payments are checked against what was read so long ago; a settlement looks again when it is accepted. */
const maxAgeMs = 3_000;

/** All settlers, without those whose address the nodes do not attest. */
export class AttestedSettlers {
  private readonly cached: CachedValue<Settler[]>;

  constructor(addresses: OwnAddresses) {
    this.cached = new CachedValue((manager) => readSettlers(manager, addresses), maxAgeMs);
  }

  /** Of one chain; the primary one first, then by age. */
  async ofChain(manager: EntityManager, chain: string): Promise<Settler[]> {
    return (await this.cached.get(manager)).filter((settler) => settler.chain === chain);
  }
}

async function readSettlers(manager: EntityManager, addresses: OwnAddresses): Promise<Settler[]> {
  const rows = await manager.find(SettlerEntity, { order: { isPrimary: 'DESC', settlerId: 'ASC' } });
  return (await withAddresses(manager, addresses, rows)).flatMap(({ settler, address }) => {
    const { settlerId, accountId, chain, addressKey, isPrimary, status } = settler;
    return address === null
      ? []
      : [{ settlerId, accountId, chain, address, addressKey, isPrimary, isActive: status === 'ACTIVE' }];
  });
}
