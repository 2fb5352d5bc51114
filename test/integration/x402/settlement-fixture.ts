import { randomBytes } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { ClientEntity } from '../../../src/auth/entity';
import { authorizationIdentity, permitIdentity } from '../../../src/chains/evm/payments/identity';
import type { SettlementMethod } from '../../../src/chains/payments';
import { loadRegistry, tokenBySymbol } from '../../../src/chains/registry';
import type { ChainDefinition, Hex, IntentAction } from '../../../src/chains/types';
import { houseClientId } from '../../../src/platform/house';
import { newId } from '../../../src/platform/ids';
import { SettlerEntity } from '../../../src/settlers/entity';
import { keySignature } from '../../evm-settlements';
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

const [ethereum] = loadRegistry('local', ['ethereum']).all as [ChainDefinition];

/** A settlement of 5 atomic units of USDC; what a test does not name is valid. */
export interface Claim {
  txId: string;
  clientId: string;
  chain: string;
  sender: string | null;
  payer: string;
  payTo: string;
  /** Contract. */
  token: string;
  method: SettlementMethod;
  nonce: string;
  paymentId: string | null;
  authorised: bigint;
  amount: bigint;
  /** Seconds since the epoch, as signed. */
  validBefore: bigint;
  signature: Hex;
}
export const claimBy = (clientId: string, sender: string, changes: Partial<Claim> = {}): Claim => ({
  ...{ txId: newId(), clientId, chain: 'ethereum', sender, payer: randomAddress(), payTo: randomAddress(), amount: 5n },
  ...{ token: tokenBySymbol(ethereum, 'USDC')?.contract ?? '', paymentId: null, validBefore: 4_000_000_000n },
  ...{ method: 'permit2_exact', nonce: BigInt(`0x${randomBytes(16).toString('hex')}`).toString(), signature: keySignature },
  authorised: changes.method === 'permit2_upto' ? 100n : (changes.amount ?? 5n),
  ...changes,
});

export const insertTransaction = (
  manager: EntityManager,
  { txId, clientId, chain, sender, payer, payTo, token, amount }: Claim,
): Promise<unknown> =>
  manager.query(
    `insert into transactions (tx_id, client_id, chain, transaction_type, from_address, sender_address, to_address, to_address_key,
       token_symbol, contract_address, decimals, amount, fee_symbol, fee_decimals, status, required_confirmations)
     values ($1, $2, $3, 'X402_SETTLE', $4, $5, $6, $7, 'USDC', $8, 6, $9, 'ETH', 18, 'PENDING', 1)`,
    [txId, clientId, chain, payer, sender, payTo, payTo.toLowerCase(), token, amount.toString()],
  );

const isAuthorization = ({ method }: Claim) => method === 'eip3009';
const identityOf = (claimed: Claim): string => {
  const { token, payer, nonce } = claimed;
  return isAuthorization(claimed) ? authorizationIdentity(token, payer, nonce as Hex) : permitIdentity(payer, BigInt(nonce));
};
/** The last second; a later one than the year 9999 is stored as its end. */
const windowEndOf = (claimed: Claim): string => {
  const last = isAuthorization(claimed) ? claimed.validBefore - 1n : claimed.validBefore;
  return (last < 253_402_300_799n ? last : 253_402_300_799n).toString();
};
const actionOf = ({ method, payer, nonce, authorised, validBefore, signature }: Claim): IntentAction => ({
  ...{ type: 'settlement', method, payer, nonce, authorised: authorised.toString(), signature },
  ...{ validAfter: '0', validBefore: validBefore.toString() },
});

export const insertSettlement = (manager: EntityManager, claimed: Claim): Promise<unknown> => {
  const { txId, clientId, chain, method, paymentId, authorised, amount } = claimed;
  return manager.query(
    `insert into x402_settlements (tx_id, client_id, chain, scheme, payload_type, identity, request_hash, payment_id, version, authorised,
       amount, valid_after, window_end, action, gas_bound)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 2, $9, $10, 0, $11, $12, 1)`,
    [
      ...[txId, clientId, chain, method === 'permit2_upto' ? 'upto' : 'exact', isAuthorization(claimed) ? 'eip3009' : 'permit2'],
      ...[identityOf(claimed), randomBytes(32), paymentId, authorised.toString(), amount.toString()],
      ...[windowEndOf(claimed), JSON.stringify(actionOf(claimed))],
    ],
  );
};

/** The house pays whatever settlements of the client cost. */
export const allowSettling = (database: DataSource, { clientId, chain }: Pick<Claim, 'clientId' | 'chain'>): Promise<unknown> =>
  database.query(
    `insert into x402_policies (client_id, chain, is_enabled, sponsors_permit, sponsors_approval, top_up_per_day)
     values ($1, $2, true, false, false, 0) on conflict do nothing`,
    [clientId, chain],
  );

/** Both rows in one database transaction; `settled` differs from `claim` where a test says so. */
export async function claim(database: DataSource, claimed: Claim, settled: Claim = claimed): Promise<string> {
  await database.transaction(async (manager) => {
    await insertTransaction(manager, claimed);
    await insertSettlement(manager, settled);
  });
  return claimed.txId;
}
