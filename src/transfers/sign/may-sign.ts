import type { EntityManager } from 'typeorm';
import { tokenBySymbol } from '../../chains/registry';
import type { ChainDefinition } from '../../chains/types';
import type { NodeKeys } from '../../mpc/identity';
import { GatewayError } from '../../platform/errors';
import { type DestinationVerdict, evaluateDestination, isBlacklisted } from '../../screening/destinations';
import { checkRules } from '../../screening/rules';
import type { TransactionEntity } from '../../transactions/entity';
import type { SignedType } from '../../transactions/signed-type';
import { isEnded } from '../../transactions/state';
import type { Attempts } from '../attempts';
import { toDestination, toScreened } from '../destination';
import { checkLimits } from '../accept/limits';
import { isRefusedByNodes } from './node-refusals';
import { NotBegun, refuse, refuseByRule } from './not-begun';
import { isAbandonRequested, wasAbandonRequested } from '../operate/operator-requests';

/** What the authoriser reads again, under the transfer's lock, before it orders anything: rules, lists, approval, limits, caps. */

/**
 * Symbol, contract and decimals have to be those of one token of the registry: the ledger holds by symbol, limits count by decimals, and
 * bytes are built by contract. @throws NotBegun.
 */
export function assertNamesOneToken(chain: ChainDefinition, transfer: TransactionEntity): void {
  const { tokenSymbol, contractAddress, decimals, feeSymbol, feeDecimals } = transfer;
  const token = tokenBySymbol(chain, tokenSymbol);
  const isToken = token?.contract === contractAddress && token.decimals === decimals;
  const isFee = feeSymbol === chain.native.symbol && feeDecimals === chain.native.decimals;
  if (!isToken || !isFee) refuse('business_error', `The transaction does not name one token of ${chain.name}`);
}

/** Every rule that a transfer has to pass before its first attempt. @throws NotBegun. */
export async function assertMayBegin(manager: EntityManager, transfer: TransactionEntity): Promise<void> {
  const rule = await checkRules(manager, toScreened(transfer));
  if (!rule.allowed) refuseByRule(rule.code, rule.reason);
  const verdict = await checkDestination(manager, transfer);
  if (verdict.outcome === 'refused') refuseByRule(verdict.code, verdict.reason);
  if (verdict.outcome === 'needs_approval' || transfer.status === 'AWAITING_APPROVAL')
    throw new NotBegun({ outcome: 'needs_approval' });
  await assertWithinLimits(manager, transfer);
}

/**
 * The lists and the approval, for what follows the first attempt; the workflow cannot wait for an approval any more.
 * @throws NotBegun.
 */
export async function assertMayContinue(manager: EntityManager, transfer: TransactionEntity): Promise<void> {
  const verdict = await checkDestination(manager, transfer);
  if (verdict.outcome === 'refused') refuseByRule(verdict.code, verdict.reason);
  if (verdict.outcome === 'needs_approval')
    refuseByRule('address_not_whitelisted', 'to_address is no longer on your whitelist, and nobody has approved the transfer');
}

/** By the current rules. Only an approval on the row counts, not the status. */
const checkDestination = (manager: EntityManager, transfer: TransactionEntity): Promise<DestinationVerdict> =>
  evaluateDestination(manager, toDestination(transfer), { approved: transfer.approvedAt !== null });

async function assertWithinLimits(manager: EntityManager, transfer: TransactionEntity): Promise<void> {
  const { walletId } = toScreened(transfer);
  const { txId, tokenSymbol: symbol, amount, decimals } = transfer;
  try {
    await checkLimits(manager, { txId, walletId, symbol, amount, decimals, isAccepted: true });
  } catch (error) {
    if (error instanceof GatewayError) refuseByRule(error.code, error.message);
    throw error;
  }
}

/**
 * A cancellation needs a reason on record: the blacklist, the end of its time, the request of an operator who knew the newest attempt, or
 * the refusals that two nodes have signed; or it has failed for good in a block that is gone (reopened.ts), which alone lets one begin after the
 * end. Later cancellations have that of the first one, which is read again: an earlier attempt of
 * this kind alone says nothing. @returns whether the destination is listed or the time is over, now. @throws NotBegun.
 */
export async function assertMayCancel(
  manager: EntityManager,
  type: SignedType,
  transfer: TransactionEntity,
  attempts: Attempts,
  nodeKeys: NodeKeys,
): Promise<{ isListed: boolean; isOver: boolean }> {
  const { txId } = transfer;
  const isListed = await isBlacklisted(manager, toDestination(transfer));
  const timeLeft = await type.timeLeft(manager, transfer);
  const isOver = timeLeft !== null && timeLeft <= 0;
  const wasListed = attempts.hasCancellation && transfer.cancellationReason === 'address_blacklisted';
  const isOnRecord =
    isEnded(transfer) ||
    isListed ||
    isOver ||
    wasListed ||
    (await isRequested(manager, txId, attempts)) ||
    (await isRefusedByNodes(manager, txId, attempts.cancelled, nodeKeys));
  if (isOnRecord) return { isListed, isOver };
  refuse(
    'not_cancellable',
    'No operator has asked for it since the newest attempt, the destination is not blacklisted, it has time left, and no two nodes have refused',
  );
}

async function isRequested(manager: EntityManager, txId: string, { last, cancelled, all }: Attempts): Promise<boolean> {
  if (last && (await isAbandonRequested(manager, txId, last.attempt))) return true;
  const [attempt, next] = [cancelled.last?.attempt, all[cancelled.all.length]?.attempt];
  return attempt !== undefined && next !== undefined && wasAbandonRequested(manager, txId, { attempt, next });
}
