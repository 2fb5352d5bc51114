import type { EntityManager } from 'typeorm';
import type { ChainDefinition, TokenDefinition } from '../../chains/types';
import type { LedgerAccountRef } from '../../ledger/entries';
import type { HeldBalance } from '../../ledger/posting';
import { assertOrdersCompared } from '../../orders/reconcile-required';
import { inTransaction, requestTransaction } from '../../platform/database';
import { GatewayError, rethrowAsUnavailable } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { transferType } from '../../transactions/types';
import { explainIfUncovered, readHeldBalances } from '../hold';
import type { AcceptDependencies } from './accept';
import { toTransfer } from './accepted-kind';
import { checkClientRules } from './client-rules';
import { assertNameIsFree } from './external-name';
import { type EstimateWarning, findWarnings } from './estimate-warnings';
import { parseTransfer, type ParsedTransfer, type TransferRequest } from './request';
import { assertUsable, findAsset, findSourceRow, type FoundAsset, type TransferSource } from './source';

/** What a transfer would take now; amounts in atomic units. */
export interface TransferEstimate {
  chain: ChainDefinition;
  token: TokenDefinition;
  amount: bigint;
  /** Network fee that would be locked, of the native coin; null: not known, because the transfer is refused. */
  feeBound: bigint | null;
  /** Of the token, and of the native coin where it is another one: what there is and what would be taken, as far as it is known. */
  balances: HeldBalance[];
  /** Why it would not be accepted; null: it would be. */
  refusal: GatewayError | null;
  /** It would wait for an approval. */
  needsApproval: boolean;
  warnings: EstimateWarning[];
}

type EstimateDependencies = Omit<AcceptDependencies, 'approvalWaitSeconds'>;

/**
 * What the same transfer would take if it was accepted now, by the checks of its acceptance in their order. Its database transaction can only
 * read: nothing is written, locked or started. `request.txId` is of no transaction.
 * @throws GatewayError what acceptTransfer would throw before it has found the asset (invalid_parameter, invalid_address, not_found), and when it
 * can accept nothing at the moment: unavailable, reconcile_required or chain_unavailable.
 */
export async function estimateTransfer(deps: EstimateDependencies, request: TransferRequest): Promise<TransferEstimate> {
  const parsed = parseTransfer(deps, request);
  const read = async (manager: EntityManager): Promise<TransferEstimate> => {
    // the database itself refuses what would write or lock
    await manager.query('set transaction read only');
    return estimate(deps, manager, parsed);
  };
  return inTransaction(deps.database, read, requestTransaction).catch(rethrowAsUnavailable);
}

async function estimate(deps: EstimateDependencies, manager: EntityManager, parsed: ParsedTransfer): Promise<TransferEstimate> {
  const { request, chain, amount } = parsed;
  await deps.starts.assertBacklogHasRoom(manager, request.clientId);
  const found = findAsset(parsed, await findSourceRow(manager, parsed));
  const source = { ...found, native: found.native ?? toUnmade(chain) };

  const checks = new Checks();
  await checks.run(() => assertSendable(deps, manager, found));
  const feeBound = await checks.run(() => boundFee(deps, manager, parsed, source));
  await checks.run(() => assertOrdersCompared(manager));
  await checks.run(() => assertNameIsFree(manager, request));
  const rules = await checks.run(() => checkClientRules(manager, parsed, source, { readOnly: true }));
  const balances = await readHeldBalances(manager, { source, amount, feeLocked: feeBound ?? 0n });
  const refusal = checks.refusal ?? explainIfUncovered(balances, { chain, tokenSymbol: found.token.symbol, amount });
  if (refusal && refusal.status >= 500) throw refusal;

  const place = { account_id: found.account.accountId, chain: chain.name, transaction_type: transferType };
  const warnings = refusal
    ? []
    : findWarnings({
        chain,
        balances,
        minimumBalance: deps.getFamily(chain.family).minimumBalance,
        isBehindParked: await deps.starts.isBehindParked(manager, place),
      });
  return { chain, token: found.token, amount, feeBound, balances, refusal, needsApproval: rules === 'needs_approval', warnings };
}

/** Checks in the order of an acceptance: each is made, and the first refusal is the one that is told. */
class Checks {
  refusal: GatewayError | null = null;

  /** null: refused. */
  async run<T>(check: () => Promise<T>): Promise<T | null> {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.refusal ??= error;
      return null;
    }
  }
}

async function assertSendable(
  { addresses }: EstimateDependencies,
  manager: EntityManager,
  { row, account, wallet }: FoundAsset,
): Promise<void> {
  assertUsable(row);
  addresses.assertOwn(account, await addresses.keyOf(manager, account, wallet));
}

async function boundFee(
  deps: EstimateDependencies,
  manager: EntityManager,
  parsed: ParsedTransfer,
  source: TransferSource,
): Promise<bigint> {
  const kind = toTransfer(deps);
  return kind.boundFee(manager, parsed, source, await kind.readLevels?.(manager, parsed.chain));
}

/** In place of the ledger account that an acceptance would make. */
const toUnmade = ({ name, native }: ChainDefinition): LedgerAccountRef => ({
  ledgerAccountId: newId(),
  chain: name,
  symbol: native.symbol,
});
