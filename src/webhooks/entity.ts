import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An endpoint of a client, and the events it receives. */
@Entity('webhook_endpoints')
export class WebhookEntity {
  @PrimaryColumn('uuid', { name: 'webhook_id' }) webhookId!: string;
  @Column({ type: 'uuid', name: 'client_id' }) clientId!: string;
  @Column('text') url!: string;
  @Column('text') description!: string;
  /** Kinds of events; null: all. */
  @Column({ type: 'text', array: true, nullable: true }) events!: string[] | null;
  @Column('text') status!: 'enabled' | 'disabled';
  /** client: disabled by PUT; gone: the receiver responded with 410; failing: all attempts have failed for too long. */
  @Column({ type: 'text', name: 'disabled_reason', nullable: true }) disabledReason!: 'client' | 'gone' | 'failing' | null;
  @Column({ type: 'timestamptz', name: 'disabled_at', nullable: true }) disabledAt!: Date | null;
  /** Encrypted by SecretBox; null once deleted. */
  @Column({ type: 'bytea', nullable: true }) secret!: Buffer | null;
  /** resourceId of the request that created the secret. */
  @Column({ type: 'uuid', name: 'secret_created_by' }) secretCreatedBy!: string;
  @Column({ type: 'bytea', name: 'previous_secret', nullable: true }) previousSecret!: Buffer | null;
  @Column({ type: 'timestamptz', name: 'previous_secret_until', nullable: true }) previousSecretUntil!: Date | null;
  @Column({ type: 'timestamptz', name: 'failing_since', nullable: true }) failingSince!: Date | null;
  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false }) createdAt!: Date;
  @Column({ type: 'timestamptz', name: 'updated_at', insert: false }) updatedAt!: Date;
  @Column({ type: 'timestamptz', name: 'deleted_at', nullable: true }) deletedAt!: Date | null;
}
