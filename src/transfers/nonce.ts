import type { EntityManager } from 'typeorm';

/** One address of ours on one chain. */
export interface NonceOwner {
  chain: string;
  accountId: string;
  addressKey: string;
}

/**
 * Takes the lowest nonce from `minedNonce` on that no transfer has: gaps first. A nonce is a row and never given back, so
 * this is called only in the database transaction that begins signing. Takers of one account wait for each other.
 */
export async function takeNonce(manager: EntityManager, owner: NonceOwner, minedNonce: number, txId: string): Promise<number> {
  const { chain, accountId, addressKey } = owner;
  await manager.query('select 1 from accounts where account_id = $1 for no key update', [accountId]);
  const [row] = await manager.query<{ nonce: string }[]>(
    `select min(candidate) as nonce from (
       select $3::bigint as candidate
       union all
       select nonce + 1 from nonces where chain = $1 and address_key = $2 and nonce >= $3::bigint
     ) candidates
     where not exists (select 1 from nonces where chain = $1 and address_key = $2 and nonce = candidate)`,
    [chain, addressKey, minedNonce],
  );
  const nonce = Number(row?.nonce);
  if (!Number.isSafeInteger(nonce)) throw new Error(`no nonce for ${addressKey} on ${chain}`);
  await manager.query('insert into nonces (chain, address_key, nonce, tx_id) values ($1, $2, $3, $4)', [
    chain,
    addressKey,
    nonce,
    txId,
  ]);
  return nonce;
}

/** The nonce a transfer has taken: all its attempts share it. */
export async function nonceOf(manager: EntityManager, txId: string): Promise<number> {
  const [row] = await manager.query<{ nonce: string }[]>('select nonce from nonces where tx_id = $1', [txId]);
  if (!row) throw new Error(`transfer ${txId} has no nonce`);
  return Number(row.nonce);
}
