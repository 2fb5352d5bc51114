import { randomBytes } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { ClientEntity } from '../../../src/auth/entity';
import type { ChainDefinition } from '../../../src/chains/types';
import { houseClientId } from '../../../src/platform/house';
import { newId } from '../../../src/platform/ids';
import { SettlerEntity } from '../../../src/settlers/entity';
import { buildAccount, buildWallet, randomAddress } from '../../factories';

/** A settler of a chain with an account of its own. */
export async function buildSettler(database: DataSource, chain: ChainDefinition) {
  const house = await database.manager.findOneByOrFail(ClientEntity, { clientId: houseClientId });
  const wallet = await buildWallet(database, house);
  const account = await buildAccount(database, wallet, chain);
  const { accountId, addressKey } = account;
  const settler = { settlerId: newId(), chain: chain.name, accountId, addressKey, status: 'ACTIVE' as const, isPrimary: false };
  await database.manager.insert(SettlerEntity, settler);
  return { settler, account, wallet };
}

/** A settlement of 5 atomic units of USDC; what a test does not name is valid. */
export interface Claim {
  txId: string;
  clientId: string;
  chain: string;
  sender: string | null;
  payer: string;
  scheme: 'exact' | 'upto';
  identity: string;
  paymentId: string | null;
  amount: bigint;
}
export const claimBy = (clientId: string, sender: string, changes: Partial<Claim> = {}): Claim => ({
  ...{ txId: newId(), clientId, chain: 'ethereum', sender, payer: randomAddress(), amount: 5n, paymentId: null },
  scheme: 'exact',
  identity: randomBytes(32).toString('hex'),
  ...changes,
});

export const insertTransaction = (
  manager: EntityManager,
  { txId, clientId, chain, sender, payer, amount }: Claim,
): Promise<unknown> =>
  manager.query(
    `insert into transactions (tx_id, client_id, chain, transaction_type, from_address, sender_address, to_address, token_symbol, decimals,
       amount, status, required_confirmations) values ($1, $2, $3, 'X402_SETTLE', $4, $5, $6, 'USDC', 6, $7, 'PENDING', 1)`,
    [txId, clientId, chain, payer, sender, randomAddress(), amount.toString()],
  );

export const insertSettlement = (
  manager: EntityManager,
  { txId, clientId, chain, payer, scheme, identity, paymentId, amount }: Claim,
): Promise<unknown> =>
  manager.query(
    `insert into x402_settlements (tx_id, client_id, chain, scheme, payload_type, identity, request_hash, payment_id, version, authorised,
       amount, valid_after, window_end, action, gas_bound)
     values ($1, $2, $3, $4, 'permit2', $5, $6, $7, 2, 100, $8, 0, 4000000000, $9, 1)`,
    [
      ...[txId, clientId, chain, scheme, identity, randomBytes(32), paymentId, amount.toString()],
      JSON.stringify({ type: 'settlement', payer }),
    ],
  );

/** Both rows in one database transaction; `settled` differs from `claim` where a test says so. */
export async function claim(database: DataSource, claimed: Claim, settled: Claim = claimed): Promise<string> {
  await database.transaction(async (manager) => {
    await insertTransaction(manager, claimed);
    await insertSettlement(manager, settled);
  });
  return claimed.txId;
}
