import type { DataSource } from 'typeorm';
import { LedgerAccountEntity } from '../ledger/entity';
import { GatewayError, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { auditedOperation } from './audited-operation';

/** What operators do about assets (ledger accounts). */
export class AssetOperations {
  constructor(private readonly database: DataSource) {}

  /**
   * Lets transfers leave an asset again that a shortfall has frozen. The ledger is right already: what was missing was posted as
   * the house's loss. Returns the asset with the reason it was frozen for.
   * @throws GatewayError not_found; business_error when it is not frozen.
   */
  async unfreeze(assetId: string): Promise<LedgerAccountEntity> {
    const found = isUuid(assetId)
      ? await this.database.manager.findOneBy(LedgerAccountEntity, { ledgerAccountId: assetId })
      : null;
    if (!found) throw notFound(`asset ${assetId}`);
    const { ledgerAccountId, clientId, accountId, chain, symbol, frozenReason } = found;
    if (frozenReason === null) throw new GatewayError('business_error', `${symbol} on ${chain} is not frozen for this account`);
    await auditedOperation(
      this.database,
      {
        action: 'asset.unfrozen',
        clientId,
        subject: { type: 'asset', id: ledgerAccountId },
        detail: { account_id: accountId, chain, symbol, reason: frozenReason },
      },
      async (manager) => {
        // frozen anew for another reason meanwhile, it stays frozen: nobody has looked at that
        const { affected } = await manager.update(LedgerAccountEntity, { ledgerAccountId, frozenReason }, { frozenReason: null });
        if (affected !== 1) throw new GatewayError('business_error', 'The asset has changed meanwhile: look again');
      },
    );
    return found;
  }
}
