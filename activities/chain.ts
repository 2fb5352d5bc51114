import type { FollowerActivities } from '../src/messages/following';
import type { DataSource } from 'typeorm';
import type { ChainClient } from '../src/chains/adapter';
import { getAdapter, getFeeStrategy } from '../src/chains/families';
import type { ChainDefinition } from '../src/chains/types';
import { findAttempts, storeInclusion } from '../src/following/store';
import type { AttemptKind, Hex } from '../src/chains/types';
import type { ChainActivities, ChainObservation, PreparedFees } from '../src/messages/transfer';
import { GatewayError, notFound } from '../src/platform/errors';
import { isAbandoned } from '../src/transfers/attempts';
import { destinationBlacklisted } from '../src/transfers/destination';
import { createFollowActivity, type FollowDependencies } from './follow';

export type ChainActivityDependencies = FollowDependencies;

/** Steps that talk to a chain. All are safe to repeat: the signed bytes on record are the only thing ever sent. */
export function createChainActivities(dependencies: ChainActivityDependencies): ChainActivities & FollowerActivities {
  const { clients, registry, database, logger } = dependencies;

  const chainOf = (name: string): { chain: ChainDefinition; client: ChainClient } => {
    const client = clients.get(name);
    if (!client) throw new Error(`no client for ${name}`);
    return { chain: registry.get(name), client };
  };

  return {
    ...createFollowActivity(dependencies),

    /** @throws GatewayError reverted_on_chain when the chain would refuse the transfer, chain_unavailable. */
    async prepareFees({ txId, attempt, kind }) {
      // begun before: its bytes are fixed, and what the chain says after their execution must not speak against them
      if (await isBegun(database, txId, attempt)) return noFees;
      const { chain: chainName, ...transfer } = await transferOf(database, txId);
      const { chain, client } = chainOf(chainName);
      const noop = kind === 'cancellation' || (attempt > 1 && (await isAbandoned(database.manager, txId)));
      const { from } = transfer;
      const movement = noop ? { from, to: from, tokenContract: null, amount: 0n } : transfer;
      const previous = attempt > 1 ? await unsignedOf(database, txId, attempt - 1) : null;
      const policy = getFeeStrategy(chain.family);
      const [levels, minedNonce, estimate] = await Promise.all([
        client.feeLevels(),
        client.minedNonce(from),
        client.estimateGas(movement).catch((error: unknown) => {
          // an earlier attempt may just have been executed and have spent what a second one would need
          if (noop || previous === null || !(error instanceof GatewayError)) throw error;
          return 0n;
        }),
      ]);
      const fees = policy.plan(levels, previous);
      // nodes compare prices, not limits: a cancellation has no need of the gas of what it replaces
      const gasLimit = policy.gasLimitFrom(estimate, noop ? null : previous);
      const draft = getAdapter(chain.family).build({
        chainId: chain.chainId,
        kind: noop ? 'cancellation' : 'first',
        nonce: minedNonce,
        ...movement,
        gasLimit,
        ...fees,
      });
      return {
        gasLimit: gasLimit.toString(),
        maxFeePerGas: fees.maxFeePerGas?.toString() ?? null,
        maxPriorityFeePerGas: fees.maxPriorityFeePerGas?.toString() ?? null,
        gasPrice: fees.gasPrice?.toString() ?? null,
        l1DataFee: (await client.l1DataFee(draft)).toString(),
        minedNonce,
      };
    },

    /** @throws GatewayError chain_unavailable when no node answered: whether one has taken the bytes is unknown, and they are sent again. */
    async broadcast({ txId, attempt }) {
      const signed = await signedOf(database, txId, attempt);
      if (signed.kind !== 'cancellation' && (await isAbandoned(database.manager, txId))) return { outcome: 'withheld' };
      if (signed.kind !== 'cancellation' && !signed.sent && (await destinationBlacklisted(database.manager, txId)))
        return { outcome: 'blacklisted' };
      const result = await chainOf(signed.chain).client.broadcast(signed.bytes);
      if (result.outcome === 'rejected') return result;
      await markBroadcast(database, txId, attempt);
      return { outcome: 'accepted', hash: signed.hash };
    },

    async observe({ txId }) {
      const attempts = await findAttempts(database.manager, txId);
      const newest = attempts.at(-1);
      if (!newest) return absent;
      const signed = await signedOf(database, txId, newest.attempt);
      const { chain, client } = chainOf(signed.chain);
      const status = await client.status(
        attempts.map(({ hash }) => hash),
        signed.nonce,
        newest.movement.from,
        newest.movement,
      );
      if (status.state === 'included') {
        const attempt = attempts.find(({ hash }) => hash === status.hash) ?? newest;
        // a cancellation moves other things than the transfer: its effect is read by its own movement
        const effect = (await client.effects([attempt])).get(attempt.hash) ?? status.effect;
        const agreed = await storeInclusion(database.manager, attempt, effect);
        if (!agreed) return absent;
        const state = status.depth >= chain.confirmations ? 'confirmed' : 'included';
        return { state, hash: attempt.hash, blockNumber: effect.blockNumber, confirmations: status.depth };
      }
      // what was given up or must not be paid is not helped on: forgotten by the chain, it waits for its replacement
      if (status.state === 'absent' && (signed.kind === 'cancellation' || (await maySendAgain(database, txId)))) {
        const result = await client.broadcast(signed.bytes);
        logger.warn(
          { tx_id: txId, chain: chain.name, attempt: newest.attempt, ...result },
          'no node knew the transaction: sent again',
        );
        if (result.outcome === 'accepted') await markBroadcast(database, txId, newest.attempt);
      }
      return { state: status.state, hash: status.hash ?? null, blockNumber: null, confirmations: 0 };
    },
  };
}

const absent: ChainObservation = { state: 'absent', hash: null, blockNumber: null, confirmations: 0 };

/** beginSigning answers an attempt that exists from its row and does not look at these. */
const noFees: PreparedFees = {
  gasLimit: '0',
  maxFeePerGas: null,
  maxPriorityFeePerGas: null,
  gasPrice: null,
  l1DataFee: '0',
  minedNonce: 0,
};

async function isBegun(database: DataSource, txId: string, attempt: number): Promise<boolean> {
  const rows = await database.query<unknown[]>('select 1 from transfer_attempts where tx_id = $1 and attempt = $2', [
    txId,
    attempt,
  ]);
  return rows.length > 0;
}

/** Whether bytes that move money may be sent once more. */
async function maySendAgain({ manager }: DataSource, txId: string): Promise<boolean> {
  return !(await isAbandoned(manager, txId)) && !(await destinationBlacklisted(manager, txId));
}

async function transferOf(database: DataSource, txId: string) {
  const [row] = await database.query<
    { chain: string; from_address: string; to_address: string; contract_address: string | null; amount: string }[]
  >('select chain, from_address, to_address, contract_address, amount from transactions where tx_id = $1', [txId]);
  if (!row) throw notFound(`transaction ${txId}`);
  return {
    chain: row.chain,
    from: row.from_address,
    to: row.to_address,
    tokenContract: row.contract_address,
    amount: BigInt(row.amount),
  };
}

async function unsignedOf(database: DataSource, txId: string, attempt: number): Promise<Hex> {
  const [row] = await database.query<{ unsigned: Hex }[]>(
    'select unsigned from transfer_attempts where tx_id = $1 and attempt = $2',
    [txId, attempt],
  );
  if (!row) throw notFound(`attempt ${attempt} of ${txId}`);
  return row.unsigned;
}

async function signedOf(database: DataSource, txId: string, attempt: number) {
  const [row] = await database.query<
    { chain: string; nonce: string; kind: AttemptKind; tx_hash: Hex; signed: Hex; sent: boolean }[]
  >(
    `select chain, nonce, kind, tx_hash, signed, broadcast_at is not null or block_number is not null as sent
       from transfer_attempts where tx_id = $1 and attempt = $2 and signed is not null`,
    [txId, attempt],
  );
  if (!row) throw notFound(`signed bytes of attempt ${attempt} of ${txId}`);
  const { chain, kind, sent } = row;
  return { chain, kind, sent, nonce: Number(row.nonce), hash: row.tx_hash, bytes: row.signed };
}

async function markBroadcast(database: DataSource, txId: string, attempt: number): Promise<void> {
  await database.query(
    'update transfer_attempts set broadcast_at = coalesce(broadcast_at, now()) where tx_id = $1 and attempt = $2',
    [txId, attempt],
  );
}
