import type { Caller, IdempotencyContext } from '../http/context';
import type { LimitOffset } from '../http/pagination';
import type { WorkflowOutbox } from '../outbox/outbox';
import { readCommitted } from '../platform/database';
import { notFound } from '../platform/errors';
import type { AttestationEntity } from './attestation-entity';
import type { AttestedKeys } from './attested-keys';
import type { WalletEntity } from './entity';
import type { WalletFilter, WalletRepository } from './repository';
import type { CreateWallet } from './schema';

export interface ShownWallet {
  wallet: WalletEntity;
  /** All signing nodes attest its key. */
  isAttested: boolean;
}

export interface StoredAttestations {
  walletId: string;
  attestations: AttestationEntity[];
}

export class WalletService {
  constructor(
    private readonly wallets: WalletRepository,
    private readonly keys: AttestedKeys,
    private readonly outbox: WorkflowOutbox,
  ) {}

  /**
   * Creates the wallet in one database transaction; the outbox starts its key generation afterwards.
   * @throws GatewayError external_id_in_use, unavailable.
   */
  async create(
    { clientId, userId }: Caller,
    { resourceId: walletId }: IdempotencyContext,
    requestId: string,
    { wallet_name: walletName, description = null, external_id: externalId }: CreateWallet,
  ): Promise<ShownWallet> {
    await this.wallets.insert(
      { walletId, clientId, walletName, description, externalId: externalId ?? null },
      { userId, requestId },
    );
    this.outbox.deliverSoon({ kind: 'start_key_generation', subjectId: walletId, clientId });
    return readCommitted(() => this.get(clientId, walletId));
  }

  async get(clientId: string, walletId: string): Promise<ShownWallet> {
    const wallet = await this.find(clientId, walletId);
    return { wallet, isAttested: (await this.keys.find(this.wallets.manager, [wallet])).has(wallet.walletId) };
  }

  async list(clientId: string, filter: WalletFilter, page: LimitOffset): Promise<[ShownWallet[], number]> {
    const [wallets, total] = await this.wallets.list(clientId, filter, page);
    const keys = await this.keys.find(this.wallets.manager, wallets);
    return [wallets.map((wallet) => ({ wallet, isAttested: keys.has(wallet.walletId) })), total];
  }

  /** What the signing nodes have attested about the wallet's key, as it is stored: for clients to verify. @throws GatewayError not_found */
  async attestations(clientId: string, id: string): Promise<StoredAttestations> {
    const { walletId } = await this.find(clientId, id);
    return { walletId, attestations: await this.wallets.attestations(walletId) };
  }

  private async find(clientId: string, walletId: string): Promise<WalletEntity> {
    const wallet = await this.wallets.find(clientId, walletId);
    if (!wallet) throw notFound('wallet');
    return wallet;
  }
}
