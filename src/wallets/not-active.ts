import { GatewayError } from '../platform/errors';
import type { WalletEntity } from './entity';

/** A key is generated in seconds. */
const retryAfterSeconds = 5;

/**
 * Why a wallet cannot be used: `reason` is `generating`, which passes by itself and is no final answer of an Idempotency-Key, or `suspended`.
 * null for an active one.
 */
export function toNotActive({ status, keyStatus }: Pick<WalletEntity, 'status' | 'keyStatus'>): GatewayError | null {
  if (status === 'ACTIVE' && keyStatus === 'ACTIVE') return null;
  if (status === 'SUSPENDED')
    return new GatewayError('wallet_not_active', 'The wallet is suspended', { extra: { reason: 'suspended' } });
  return new GatewayError('wallet_not_active', 'The key of the wallet is being generated', {
    retryAfterSeconds,
    extra: { reason: 'generating' },
  });
}
