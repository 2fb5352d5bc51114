import type { Caller, IdempotencyContext } from '../http/context';
import type { LimitOffset } from '../http/pagination';
import { notFound } from '../platform/errors';
import type { Logger } from '../platform/logging';
import type { WalletEntity } from './entity';
import type { KeyGeneration } from './key-generation';
import type { WalletRepository } from './repository';
import type { CreateWallet } from './schema';

/** A wallet whose key is not under way this long after its creation gets its workflow started again. */
const reconcileAfterMs = 15_000;
const reconcileBatch = 50;

export class WalletService {
  constructor(
    private readonly wallets: WalletRepository,
    private readonly keys: KeyGeneration,
    private readonly log: Logger,
  ) {}

  /**
   * Inserts the wallet, then starts its key generation. A workflow service that is down is found out before anything
   * is written; a failure between the two is made good by `repair`, so that the wallet is created once its row is.
   * @throws GatewayError unavailable.
   */
  async create(
    { clientId, userId }: Caller,
    { resourceId: walletId }: IdempotencyContext,
    requestId: string,
    { wallet_name: walletName, description = null }: CreateWallet,
  ): Promise<WalletEntity> {
    await this.keys.assertAvailable();
    await this.wallets.insert({ walletId, clientId, walletName, description }, { userId, requestId });
    await this.keys
      .start({ walletId, clientId })
      .catch((err: unknown) => this.log.warn({ err, wallet_id: walletId }, 'key generation not started, will be repaired'));
    return this.get(clientId, walletId);
  }

  async get(clientId: string, walletId: string): Promise<WalletEntity> {
    const wallet = await this.wallets.find(clientId, walletId);
    if (!wallet) throw notFound('wallet');
    return wallet;
  }

  list(clientId: string, slice: LimitOffset): Promise<[WalletEntity[], number]> {
    return this.wallets.list(clientId, slice);
  }

  /** Starts the key generations that a crash or an outage left unstarted; run every few seconds by every API process. */
  async reconcile(): Promise<void> {
    for (const wallet of await this.wallets.generatingSince(new Date(Date.now() - reconcileAfterMs), reconcileBatch)) {
      await this.keys.start(wallet);
    }
  }
}
