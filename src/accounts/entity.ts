import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ChainFamily, KeyProtocol } from '../chains/types';

@Entity('accounts')
export class AccountEntity {
  @PrimaryColumn('uuid', { name: 'account_id' }) accountId!: string;
  @Column({ type: 'uuid', name: 'wallet_id' }) walletId!: string;
  @Column({ type: 'uuid', name: 'client_id' }) clientId!: string;
  @Column('text') family!: ChainFamily;
  @Column('text') chain!: string;
  @Column('text') network!: string;
  /** As shown to clients. */
  @Column('text') address!: string;
  /** Canonical form for comparison. */
  @Column({ type: 'text', name: 'address_key' }) addressKey!: string;
  /** The key that signs for the address, as the nodes name it. */
  @Column({ type: 'text', name: 'key_id' }) keyId!: string;
  @Column({ type: 'text', name: 'key_protocol' }) keyProtocol!: KeyProtocol;
  /** Non-hardened BIP-32 path below the key, such as m/60/0; `m` for a key of its own. */
  @Column({ type: 'text', name: 'derivation_path' }) derivationPath!: string;
  @Column({ type: 'integer', name: 'address_index' }) addressIndex!: number;
  @Column({ type: 'text', name: 'address_type' }) addressType!: 'INBOUND';
  @Column('text') status!: 'ACTIVE' | 'INACTIVE';
  @Column({ type: 'text', nullable: true }) label!: string | null;
  /** What the client calls it. */
  @Column({ type: 'text', name: 'external_id', nullable: true, update: false }) externalId!: string | null;
  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false }) createdAt!: Date;
}
