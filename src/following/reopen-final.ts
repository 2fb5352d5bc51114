import type { EntityManager } from 'typeorm';

interface Reopened {
  txId: string;
  reason: string;
}

/**
 * Of transactions that have lost their block, those that had counted as final: from now on they are watched again. What has failed there was
 * refunded, and its bytes may be executed yet, with another result: until an operator has looked at it, the asset that was refunded sends
 * nothing. What has failed had a final block, whether it was noted as final by then or not. Call it in the follower's database transaction.
 * Returns what was refunded.
 */
export async function reopenFinal(manager: EntityManager, chain: string, txIds: readonly string[]): Promise<Reopened[]> {
  if (txIds.length === 0) return [];
  const [rows] = await manager.query<[{ tx_id: string; status: string; asset_id: string | null; is_held: boolean }[], number]>(
    `update transactions set finalized_at = null
      where tx_id = any($2::uuid[]) and chain = $1 and (finalized_at is not null or status = 'FAILED') and block_number is not null
      returning tx_id, status, asset_id, is_held`,
    [chain, txIds],
  );
  const refunded = rows.filter(({ status, is_held: isHeld }) => status === 'FAILED' && isHeld);
  const reopened = refunded.map(({ tx_id: txId, asset_id: assetId }) => {
    const reason = `transfer ${txId} has failed in a block that was final and is gone: it may be executed yet, and was refunded`;
    return { txId, assetId, reason };
  });
  for (const { assetId, reason } of reopened)
    await manager.query('update ledger_accounts set frozen_reason = coalesce(frozen_reason, $2) where ledger_account_id = $1', [
      assetId,
      reason,
    ]);
  return reopened.map(({ txId, reason }) => ({ txId, reason }));
}
