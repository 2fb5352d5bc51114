import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import { enqueue } from '../outbox/outbox';
import { inTransaction } from '../platform/database';
import { GatewayError } from '../platform/errors';
import { houseClientId } from '../platform/house';
import { newId } from '../platform/ids';
import { WalletEntity } from '../wallets/entity';
import { currentOperator } from './operator';

const pollMs = 500;

/**
 * The wallet of the house, once the signing nodes have generated its key; it is created when it is missing.
 * @param waitMs how long it waits for the key
 * @throws GatewayError unavailable without the key after that time; wallet_not_active when it is suspended.
 */
export async function readyHouseWallet(database: DataSource, waitMs: number): Promise<WalletEntity> {
  const walletId = await ensureHouseWallet(database);
  const until = performance.now() + waitMs;
  for (;;) {
    const wallet = await database.manager.findOneByOrFail(WalletEntity, { walletId });
    if (wallet.status === 'SUSPENDED') throw new GatewayError('wallet_not_active', 'The wallet of the house is suspended');
    if (wallet.status === 'ACTIVE') return wallet;
    if (performance.now() >= until)
      throw new GatewayError('unavailable', 'The key of the house is still being generated: repeat the command');
    await delay(pollMs);
  }
}

/** Returns its id. */
function ensureHouseWallet(database: DataSource): Promise<string> {
  return inTransaction(database, async (manager) => {
    // operators who do this at the same time create one wallet
    await manager.query('select 1 from clients where client_id = $1 for no key update', [houseClientId]);
    const found = await manager.findOne(WalletEntity, { where: { clientId: houseClientId }, order: { walletId: 'ASC' } });
    return found ? found.walletId : createHouseWallet(manager);
  });
}

async function createHouseWallet(manager: EntityManager): Promise<string> {
  const [walletId, walletName] = [newId(), 'settlers'];
  const wallet = { walletId, clientId: houseClientId, walletName, description: null };
  await manager.insert(WalletEntity, { ...wallet, status: 'PROGRESSING', keyStatus: 'GENERATING' });
  await audit(manager, {
    action: 'wallet.created',
    outcome: 'success',
    actor: currentOperator(),
    clientId: null,
    subject: { type: 'wallet', id: walletId },
    detail: { name: walletName },
  });
  await enqueue(manager, { kind: 'start_key_generation', subjectId: walletId, clientId: houseClientId });
  return walletId;
}
