import { Column, Entity, PrimaryColumn } from 'typeorm';

export type FactorType = 'WHITELIST' | 'BLACKLIST';
export type FactorStatus = 'active' | 'inactive';

@Entity('security_factors')
export class SecurityFactorEntity {
  @PrimaryColumn('uuid', { name: 'factor_id' }) factorId!: string;
  @Column({ type: 'uuid', name: 'client_id' }) clientId!: string;
  @Column({ type: 'text', name: 'factor_type' }) factorType!: FactorType;
  @Column('text') chain!: string;
  /** As the client wrote it. */
  @Column('text') address!: string;
  /** Canonical form, for comparison. */
  @Column({ type: 'text', name: 'address_key' }) addressKey!: string;
  @Column('text') label!: string;
  @Column('text') reason!: string;
  @Column('text') status!: FactorStatus;
  /** User id. */
  @Column({ type: 'uuid', name: 'added_by' }) addedBy!: string;
  /** When it last became active. */
  @Column({ type: 'timestamptz', name: 'activated_at' }) activatedAt!: Date;
  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false }) createdAt!: Date;
  @Column({ type: 'timestamptz', name: 'updated_at', insert: false }) updatedAt!: Date;
  @Column({ type: 'timestamptz', name: 'deleted_at', nullable: true }) deletedAt!: Date | null;
}
