import type { DataSource, EntityManager } from 'typeorm';
import type { ChainFamily } from '../chains/types';
import type { KeyAttestation } from '../messages/key-generation';
import { parseAttestation } from '../mpc/key-attestation';
import type { AttestedKey } from '../wallets/attested-keys';
import { AccountAttestationEntity } from './attestation-entity';
import type { AttestedAccountKeys, KeyedAccount } from './attested-keys';
import { type AccountKeyGeneration, keyUnavailable } from './key-generation';
import { AccountKeyRequests } from './key-requests';

/** A key that all nodes attest to be of an account that is not stored yet. */
export interface OwnKey extends AttestedKey {
  attestations: KeyAttestation[];
}

/** Keys of accounts whose family has no children of keys: generated while the request waits, stored with the account. */
export class OwnKeys {
  private readonly requests: AccountKeyRequests;

  constructor(
    database: DataSource,
    private readonly generation: AccountKeyGeneration,
    private readonly keys: AttestedAccountKeys,
  ) {
    this.requests = new AccountKeyRequests(database);
  }

  /**
   * Waits 10 s at most, without a database transaction. Whatever fails here or later leaves no more than a key that nobody uses; the next
   * try for the same account takes it over, or has another one generated.
   * @throws GatewayError unavailable
   */
  async generate(account: KeyedAccount, family: ChainFamily): Promise<OwnKey> {
    const input = await this.requests.begin(account, family);
    try {
      const { attestations } = await this.generation.generate(account, input);
      const key = this.keys.verify(account, attestations);
      if (!key) throw keyUnavailable();
      return { ...key, attestations };
    } catch (error) {
      // if it fails, the place is free again some seconds later
      await this.requests.giveUp(account.accountId).catch(() => undefined);
      throw error;
    }
  }

  /** To be called in the database transaction that inserts the account, after the insert. */
  async store(manager: EntityManager, accountId: string, { attestations }: OwnKey): Promise<void> {
    const rows = attestations.map((attestation) => ({
      accountId,
      node: parseAttestation(attestation).node,
      statement: attestation.text,
      signature: attestation.signature,
    }));
    await manager.insert(AccountAttestationEntity, rows);
    await manager.query('delete from account_key_requests where account_id = $1', [accountId]);
  }

  sweep(): Promise<void> {
    return this.requests.sweep();
  }
}
