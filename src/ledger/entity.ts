import { Column, Entity, PrimaryColumn } from 'typeorm';
import { atomicColumn } from '../platform/columns';

/** Balance of one token on one chain for one account; changed by ledger entries only (database trigger). */
@Entity('ledger_accounts')
export class LedgerAccountEntity {
  @PrimaryColumn('uuid', { name: 'ledger_account_id' }) ledgerAccountId!: string;
  @Column({ type: 'uuid', name: 'account_id' }) accountId!: string;
  @Column({ type: 'uuid', name: 'wallet_id' }) walletId!: string;
  @Column({ type: 'uuid', name: 'client_id' }) clientId!: string;
  @Column('text') chain!: string;
  @Column('text') symbol!: string;
  @Column('smallint') decimals!: number;
  @Column({ type: 'text', name: 'contract_address', nullable: true }) contractAddress!: string | null;
  /** Atomic units. */
  @Column({ type: 'numeric', precision: 78, scale: 0, transformer: atomicColumn, insert: false, update: false })
  available!: bigint;
  /** Atomic units. */
  @Column({ type: 'numeric', precision: 78, scale: 0, transformer: atomicColumn, insert: false, update: false }) locked!: bigint;
  @Column({ type: 'text', name: 'frozen_reason', nullable: true }) frozenReason!: string | null;
  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false }) createdAt!: Date;
}
