import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('clients')
export class ClientEntity {
  @PrimaryColumn('uuid', { name: 'client_id' }) clientId!: string;
  @Column('text') name!: string;
  @Column('text') status!: 'ACTIVE' | 'DISABLED';
  @Column({ type: 'timestamptz', name: 'created_at' }) createdAt!: Date;
}

@Entity('users')
export class UserEntity {
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column({ type: 'uuid', name: 'client_id' }) clientId!: string;
  @Column('text') name!: string;
  @Column('text') status!: 'ACTIVE' | 'DISABLED';
  @Column({ type: 'timestamptz', name: 'created_at' }) createdAt!: Date;
}

@Entity('api_keys')
export class ApiKeyEntity {
  @PrimaryColumn('uuid', { name: 'key_id' }) keyId!: string;
  @Column({ type: 'uuid', name: 'client_id' }) clientId!: string;
  @Column({ type: 'uuid', name: 'user_id' }) userId!: string;
  @Column({ type: 'text', name: 'api_key' }) apiKey!: string;
  /** sha256 of the secret. */
  @Column({ type: 'bytea', name: 'secret_hash' }) secretHash!: Buffer;
  @Column({ type: 'timestamptz', name: 'created_at' }) createdAt!: Date;
  @Column({ type: 'timestamptz', name: 'revoked_at', nullable: true }) revokedAt!: Date | null;
}
