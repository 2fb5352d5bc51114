import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A ledger account that a client has added to its view; the id is the ledger account's. */
@Entity('assets')
export class AssetEntity {
  @PrimaryColumn('uuid', { name: 'asset_id' }) assetId!: string;
  @Column({ type: 'uuid', name: 'account_id' }) accountId!: string;
  @Column({ type: 'uuid', name: 'wallet_id' }) walletId!: string;
  @Column({ type: 'uuid', name: 'client_id' }) clientId!: string;
  @Column({ type: 'boolean', name: 'is_active' }) isActive!: boolean;
  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false }) createdAt!: Date;
}
