import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An account of the house that sends what others have signed. The database checks that it is one. */
@Entity('settlers')
export class SettlerEntity {
  @PrimaryColumn('uuid', { name: 'settler_id' }) settlerId!: string;
  @Column('text') chain!: string;
  @Column({ type: 'uuid', name: 'account_id' }) accountId!: string;
  /** Canonical form, for comparison. */
  @Column({ type: 'text', name: 'address_key' }) addressKey!: string;
  /** DRAINING: takes nothing new, and finishes what it has, until an operator makes it ACTIVE again. */
  @Column('text') status!: 'ACTIVE' | 'DRAINING';
  /** The one of its chain that payers are told to name, where what they sign names who may settle it. */
  @Column({ type: 'boolean', name: 'is_primary' }) isPrimary!: boolean;
  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false }) createdAt!: Date;
}
