import type { EntityManager } from 'typeorm';
import type { GatherPlan, ReservationOwner, ReserveResult } from '../family';
import { findFeeLevels } from '../fee-levels';
import { findFree } from '../outputs';
import { insertReservation } from '../reservations';
import { findSmallFree, findWaitingTransfers, type WaitingTransfers } from '../small-outputs';
import type { GatherRequest, Prepared } from '../types';
import { toScript } from './codec/address';
import { type Coin, maxInputs, sum } from './codec/transaction';
import { readDetails, type Selection, toPrepared } from './details';
import { decodeLevels } from './fees';
import { dustLimit, inputSize, virtualSize } from './sizes';

/** Outputs that are looked at; the biggest, and the smallest. */
const maxJudged = 500;
/** One alone would be moved, not joined. */
const minInputs = 2;

/**
 * Small outputs become one: the smallest first, of those that nobody holds and no waiting transfer needs. Chosen under the lock of their
 * account, as those of transfers.
 */
export async function reserveSmall(
  manager: EntityManager,
  owner: ReservationOwner,
  prepared: Prepared,
  txId: string,
  request: GatherRequest,
): Promise<ReserveResult> {
  await manager.query('select 1 from accounts where account_id = $1 for no key update', [owner.accountId]);
  const details = readDetails(prepared);
  const selection = await choose(manager, owner, request, details.rate, txId);
  if (!selection)
    return {
      outcome: 'refused',
      code: 'business_error',
      reason: 'The account has too few small outputs that are worth their fee and that no transfer needs',
    };
  for (const { resource } of selection.coins) await insertReservation(manager, owner, txId, { resource, ordinal: null });
  const resources = selection.coins.map(({ resource }) => resource);
  return { outcome: 'reserved', resources, prepared: toPrepared({ ...details, selection }, selection.fee) };
}

/** What `reserveSmall` would choose now, at the stored fee levels. */
export async function planGathering(
  manager: EntityManager,
  owner: ReservationOwner,
  request: GatherRequest,
): Promise<GatherPlan | null> {
  const rate = decodeLevels(await findFeeLevels(manager, { name: owner.chain }));
  const selection = await choose(manager, owner, request, rate, null);
  return selection && { inputs: selection.coins.length, amount: sum(selection.coins), fee: selection.fee };
}

async function choose(
  manager: EntityManager,
  owner: ReservationOwner,
  { maxInputs: most, below }: GatherRequest,
  rate: bigint,
  txId: string | null,
): Promise<Selection | null> {
  const small = await findSmallFree(manager, owner, { above: rate * inputSize, below }, maxJudged);
  const waiting = await findWaitingTransfers(manager, owner, txId);
  const kept = waiting.count === 0 ? new Set<string>() : keepFor(waiting, await findFree(manager, owner, maxJudged));
  return selectSmall({ script: toScript(owner.addressKey), rate, small, kept, most: Math.min(most, maxInputs) });
}

/**
 * Those of the free outputs, the biggest first, that waiting transfers take: as many as there are transfers at least, since each needs one
 * of its own, and as much as these need.
 */
export function keepFor({ count, amount }: WaitingTransfers, free: readonly Coin[]): Set<string> {
  const kept = new Set<string>();
  let total = 0n;
  for (const coin of free) {
    if (kept.size >= count && total >= amount) break;
    kept.add(coin.resource);
    total += coin.amount;
  }
  return kept;
}

export interface SmallCoins {
  /** P2WPKH script to which the coins belong and which they go to. */
  script: Uint8Array;
  /** Satoshis per virtual byte. */
  rate: bigint;
  /** The smallest first, all worth more than an input costs. */
  small: readonly Coin[];
  /** Resources of coins that are left alone. */
  kept: ReadonlySet<string>;
  /** Inputs. */
  most: number;
}

/** null: fewer than two, or what is left of them would be dust. */
export function selectSmall({ script, rate, small, kept, most }: SmallCoins): Selection | null {
  const coins = small.filter(({ resource }) => !kept.has(resource)).slice(0, most);
  const fee = rate * virtualSize(coins.length, [script]);
  return coins.length < minInputs || sum(coins) - fee < dustLimit(script) ? null : { coins, fee };
}
