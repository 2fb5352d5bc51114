import type { EntityManager } from 'typeorm';
import type { ReservationOwner } from '../../chains/family';
import { tokenBySymbol } from '../../chains/registry';
import type { AttemptKind, ChainDefinition, TransactionIntent } from '../../chains/types';
import { formatAmount } from '../../platform/money';
import type { TransactionEntity } from '../../transactions/entity';
import { isEnded } from '../../transactions/state';
import type { Attempts } from '../attempts';
import type { AuthoriserDependencies } from '../dependencies';
import { coveredFee, findHeldAccountsForUpdate } from '../hold';
import { NotBegun, refuse } from './not-begun';

/** How much more than the bound by the stored fee levels an attempt may cost: fees rise between two readings of them. */
const aboveLevels = 10n;
/** How much more than the first attempt a replacement may cost when fees have fallen since: nodes ask for a rise each time. */
const aboveFirst = 2n;

interface PlannedFee {
  transfer: TransactionEntity;
  intent: TransactionIntent;
  attempts: Attempts;
  source: ReservationOwner;
  /** Atomic units of the native coin. */
  fee: bigint;
  /** Of it and of what it pays for; undefined: of it alone. */
  packageFee?: bigint | undefined;
}

/**
 * Whoever prepares an attempt names its fee. It has to be near the fee levels that the gateway has stored, so that nobody can have
 * a transfer pay the absolute cap to a block's proposer.
 * @throws NotBegun `wait` for a fee far above the levels, or a package above the chain's absolute cap; fee_above_bound above the chain's absolute cap.
 */
export async function assertFeeIsUsual(
  manager: EntityManager,
  { registry, getFamily }: Pick<AuthoriserDependencies, 'registry' | 'getFamily'>,
  { transfer, intent: { outputs, action, gather, memo, allowsProgram }, attempts, source, fee, packageFee = fee }: PlannedFee,
): Promise<void> {
  // whoever sends it pays
  if (fee === 0n) return;
  const chain = registry.get(transfer.chain);
  assertBelowCap(chain, fee);
  if (packageFee > chain.maxNetworkFee) {
    const reason = `With what it depends on it would pay ${display(chain, packageFee)} for the network, more than is paid on ${chain.name}`;
    throw new NotBegun({ outcome: 'wait', reason });
  }
  const [first] = attempts.all;
  if (first && fee <= aboveFirst * BigInt(first.prepared.feeBound)) return;
  const token = tokenBySymbol(chain, transfer.tokenSymbol) ?? chain.native;
  const usual = await getFamily(chain.family).bound(manager, {
    chain,
    source,
    token,
    outputs,
    action,
    gather,
    memo,
    allowsProgram,
  });
  if (fee <= aboveLevels * usual) return;
  const reason = `The network fee may reach ${display(chain, fee)}, usual is ${display(chain, usual)} on ${chain.name}`;
  throw new NotBegun({ outcome: 'wait', reason });
}

/**
 * Whatever the levels are now: not above the chain's absolute cap, and not above what is held for it. What has ended holds nothing any more, and
 * has at most a cancellation: that may cost what the transfer had held, or more if its account has it available, as an open one could lock
 * (raiseHold). It is not locked: what is spent before a block holds the cancellation is a loss of the house (adjustFee).
 * @throws NotBegun fee_above_bound.
 */
export async function assertFeeIsCovered(
  manager: EntityManager,
  chain: ChainDefinition,
  transfer: TransactionEntity,
  { fee, kind }: { fee: bigint; kind: AttemptKind },
): Promise<void> {
  assertBelowCap(chain, fee);
  const covered = coveredFee(transfer, kind);
  if (!transfer.isHeld || fee <= covered) return;
  const mayReach = `The network fee may reach ${display(chain, fee)}`;
  if (!isEnded(transfer)) refuse('fee_above_bound', `${mayReach}, ${display(chain, covered)} is locked`);
  const { available } = (await findHeldAccountsForUpdate(manager, transfer)).native;
  if (fee <= available) return;
  const has = `${display(chain, covered)} was locked, and the account has ${display(chain, available)} available`;
  refuse('fee_above_bound', `${mayReach}, ${has}`);
}

function assertBelowCap(chain: ChainDefinition, fee: bigint): void {
  if (fee <= chain.maxNetworkFee) return;
  refuse(
    'fee_above_bound',
    `The network fee may reach ${display(chain, fee)}; on ${chain.name} no more than ${display(chain, chain.maxNetworkFee)} is paid`,
  );
}

const display = ({ native }: ChainDefinition, amount: bigint): string =>
  `${formatAmount(amount, native.decimals)} ${native.symbol}`;
