import { Entity, PrimaryColumn } from 'typeorm';
import { StoredStatement } from '../wallets/attestation-entity';

/** What a node has attested about the key of an account that has one of its own. */
@Entity('account_attestations')
export class AccountAttestationEntity extends StoredStatement {
  @PrimaryColumn('uuid', { name: 'account_id' }) accountId!: string;
}
