import { type DataSource, IsNull, Not } from 'typeorm';
import { LedgerAccountEntity } from '../ledger/entity';
import { GatewayError, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { formatAmount } from '../platform/money';
import { auditedOperation } from './audited-operation';
import { withReason } from './confirmation';

/** What an asset has, in display units. */
export const balanceRow = ({ chain, symbol, decimals, available, locked, frozenReason }: LedgerAccountEntity) => ({
  chain,
  symbol,
  available: formatAmount(available, decimals),
  locked: formatAmount(locked, decimals),
  frozen_for: frozenReason,
});

/** Operations on assets (ledger accounts). */
export class AssetOperations {
  constructor(private readonly database: DataSource) {}

  /** Newest accounts first. `isFrozen`: only those that nothing is sent from. */
  list({ accountId, isFrozen, limit }: { accountId?: string; isFrozen?: true; limit: number }): Promise<LedgerAccountEntity[]> {
    if (accountId !== undefined && !isUuid(accountId)) throw notFound(`account ${accountId}`);
    return this.database.manager.find(LedgerAccountEntity, {
      where: { ...(accountId !== undefined && { accountId }), ...(isFrozen && { frozenReason: Not(IsNull()) }) },
      order: { accountId: 'DESC', chain: 'ASC', symbol: 'ASC' },
      take: limit,
    });
  }

  /** An asset that `unfreeze` would take. @throws GatewayError not_found; business_error when it is not frozen. */
  async findFrozen(assetId: string): Promise<LedgerAccountEntity> {
    const found = isUuid(assetId)
      ? await this.database.manager.findOneBy(LedgerAccountEntity, { ledgerAccountId: assetId })
      : null;
    if (!found) throw notFound(`asset ${assetId}`);
    const { chain, symbol, frozenReason } = found;
    if (frozenReason === null) throw new GatewayError('business_error', `${symbol} on ${chain} is not frozen for this account`);
    return found;
  }

  /**
   * Allows transfers from an asset again that was frozen because of a shortfall. The ledger needs no correction: the missing amount was
   * posted as a loss of the house. Returns the asset with the reason why it was frozen.
   * @throws GatewayError not_found; business_error when it is not frozen.
   */
  async unfreeze(assetId: string, reason?: string): Promise<LedgerAccountEntity> {
    const found = await this.findFrozen(assetId);
    const { ledgerAccountId, clientId, accountId, chain, symbol, frozenReason } = found;
    await auditedOperation(
      this.database,
      {
        action: 'asset.unfrozen',
        clientId,
        subject: { type: 'asset', id: ledgerAccountId },
        detail: { account_id: accountId, chain, symbol, reason: frozenReason, ...withReason(reason) },
      },
      async (manager) => {
        // if it was frozen again for another reason in the meantime, it stays frozen: that reason was not examined
        const { affected } = await manager.update(LedgerAccountEntity, { ledgerAccountId, frozenReason }, { frozenReason: null });
        if (affected !== 1) throw new GatewayError('business_error', 'The asset was changed in the meantime: check it again');
      },
    );
    return found;
  }
}
