import { AccountAttestationEntity } from './accounts/attestation-entity';
import { AccountEntity } from './accounts/entity';
import { AssetEntity } from './assets/entity';
import { ApiKeyEntity, ClientEntity, UserEntity } from './auth/entity';
import { LedgerAccountEntity } from './ledger/entity';
import { SecurityFactorEntity } from './security-factors/entity';
import { SettlerEntity } from './settlers/entity';
import { TransactionEntity } from './transactions/entity';
import { AttestationEntity } from './wallets/attestation-entity';
import { WalletEntity } from './wallets/entity';
import { WebhookEntity } from './webhooks/entity';

/** Every TypeORM entity. Tables that are used by SQL only (postings, reservations, attempts, cursors) have none. */
export const entities = [
  AccountAttestationEntity,
  AccountEntity,
  ApiKeyEntity,
  AssetEntity,
  AttestationEntity,
  ClientEntity,
  LedgerAccountEntity,
  SecurityFactorEntity,
  SettlerEntity,
  TransactionEntity,
  UserEntity,
  WalletEntity,
  WebhookEntity,
];
