import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { audit } from '../audit/log';
import type { ActivateWallet } from '../messages/key-generation';
import { inTransaction } from '../platform/database';
import { GatewayError, notFound } from '../platform/errors';
import { fromHex } from '../platform/hex';
import { assertAttested, storeAttestations } from './attestations';
import { WalletEntity } from './entity';
import { findWalletForUpdate } from './lock';

/**
 * The key is durable on all nodes: the wallet becomes ACTIVE with what they attest, or stays suspended if an operator has suspended it
 * meanwhile. A second call with the same key has no effect.
 * @throws GatewayError not_found; invalid_parameter without the attestations of all nodes; business_error when the wallet already has
 * another key: its addresses are in use.
 */
export function activateWallet(database: DataSource, input: ActivateWallet): Promise<void> {
  const { walletId, keyId } = input;
  return inTransaction(database, async (manager) => {
    const wallet = await findWalletForUpdate(manager, { walletId });
    if (!wallet) throw notFound('wallet');
    if (wallet.keyStatus === 'ACTIVE') {
      if (wallet.keyId !== keyId)
        throw new GatewayError('business_error', `The wallet has the key ${wallet.keyId}, not ${keyId}`);
      return;
    }
    assertAttested(input, wallet.clientId);
    await storeAttestations(manager, input);
    await manager.update(
      WalletEntity,
      { walletId },
      {
        status: wallet.status === 'SUSPENDED' ? 'SUSPENDED' : 'ACTIVE',
        keyStatus: 'ACTIVE',
        keyId,
        publicKey: fromHex(input.publicKey),
        chainCode: fromHex(input.chainCode),
        updatedAt: () => 'now()',
      },
    );
    await audit(manager, {
      action: 'wallet.activated',
      outcome: 'success',
      actor: { type: 'system', id: 'key-generation' },
      clientId: wallet.clientId,
      subject: { type: 'wallet', id: walletId },
      detail: { key_id: keyId, public_key_sha256: createHash('sha256').update(fromHex(input.publicKey)).digest('hex') },
    });
  });
}
