import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('wallets')
export class WalletEntity {
  @PrimaryColumn('uuid', { name: 'wallet_id' }) walletId!: string;
  @Column({ type: 'uuid', name: 'client_id' }) clientId!: string;
  @Column({ type: 'text', name: 'wallet_name' }) walletName!: string;
  @Column({ type: 'text', nullable: true }) description!: string | null;
  /** What the client calls it. */
  @Column({ type: 'text', name: 'external_id', nullable: true, update: false }) externalId!: string | null;
  @Column('text') status!: 'PROGRESSING' | 'ACTIVE' | 'SUSPENDED';
  @Column({ type: 'text', name: 'key_status' }) keyStatus!: 'GENERATING' | 'ACTIVE';
  /** The key's id at the nodes; null until the key is durable on all three. */
  @Column({ type: 'text', name: 'key_id', nullable: true }) keyId!: string | null;
  /** 33 bytes, compressed secp256k1. */
  @Column({ type: 'bytea', name: 'public_key', nullable: true }) publicKey!: Buffer | null;
  @Column({ type: 'bytea', name: 'chain_code', nullable: true }) chainCode!: Buffer | null;
  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false }) createdAt!: Date;
  @Column({ type: 'timestamptz', name: 'updated_at', insert: false }) updatedAt!: Date;
}
