import type { Caller, IdempotencyContext } from '../http/context';
import type { LimitOffset } from '../http/pagination';
import type { WorkflowOutbox } from '../outbox/outbox';
import { notFound } from '../platform/errors';
import type { WalletEntity } from './entity';
import type { WalletRepository } from './repository';
import type { CreateWallet } from './schema';

export class WalletService {
  constructor(
    private readonly wallets: WalletRepository,
    private readonly outbox: WorkflowOutbox,
  ) {}

  /**
   * Creates the wallet in one database transaction; the outbox starts its key generation afterwards.
   * @throws GatewayError unavailable.
   */
  async create(
    { clientId, userId }: Caller,
    { resourceId: walletId }: IdempotencyContext,
    requestId: string,
    { wallet_name: walletName, description = null }: CreateWallet,
  ): Promise<WalletEntity> {
    await this.wallets.insert({ walletId, clientId, walletName, description }, { userId, requestId });
    this.outbox.deliverSoon({ kind: 'start_key_generation', subjectId: walletId, clientId });
    return this.get(clientId, walletId);
  }

  async get(clientId: string, walletId: string): Promise<WalletEntity> {
    const wallet = await this.wallets.find(clientId, walletId);
    if (!wallet) throw notFound('wallet');
    return wallet;
  }

  list(clientId: string, page: LimitOffset): Promise<[WalletEntity[], number]> {
    return this.wallets.list(clientId, page);
  }
}
