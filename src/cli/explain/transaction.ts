import type { Client } from '@temporalio/client';
import type { DataSource, EntityManager } from 'typeorm';
import { ClientEntity } from '../../auth/entity';
import { findDoubtedOrdinals } from '../../chains/reservations';
import { getFamily } from '../../chains/families';
import type { ChainDefinition, FamilyRules } from '../../chains/types';
import { areOrdersCompared } from '../../orders/reconcile-required';
import { formatAmount } from '../../platform/money';
import { getSignedType } from '../../signed-types';
import type { TransactionEntity } from '../../transactions/entity';
import { findTimeline } from '../../transactions/shown-rows';
import { rulesOf } from '../../transactions/signed-type';
import { isEnded } from '../../transactions/state';
import { findParkedBefore, findUnexecutedBefore } from '../../transfers/line';
import { loadAttempts } from '../../transfers/load-attempts';
import { findRedo, whyNotRedone } from '../../transfers/redo/rules';
import { whyUndecidable } from '../../transfers/screen/decide';
import { findActions } from './actions';
import { type GetClient, viewChain } from './chain';
import * as rows from './rows';
import { showAttempts } from './shown-attempts';
import { explainState } from './state';
import { noWorkflow, viewWorkflow } from './workflow';

export interface ExplainSources {
  database: DataSource;
  temporal: Client;
  /** Of the environment, whether or not they are enabled. */
  chains: readonly ChainDefinition[];
  getClient: GetClient;
  /** Address of the Temporal UI. */
  uiUrl: string | undefined;
}

export type TransactionReport = Awaited<ReturnType<typeof explainTransaction>>;

/** Everything about one transaction, of whatever type. Changes nothing; what does not answer is named in the report. */
export async function explainTransaction(sources: ExplainSources, tx: TransactionEntity) {
  const { database, temporal, chains, getClient, uiUrl } = sources;
  const { manager } = database;
  const attempts = await loadAttempts(manager, tx.txId);
  const [workflow, chain] = await Promise.all([
    tx.isSigned ? viewWorkflow(temporal, tx.txId, uiUrl) : noWorkflow,
    viewChain(manager, getClient, tx, attempts),
  ]);
  const client = await manager.findOneBy(ClientEntity, { clientId: tx.clientId });
  const undelivered = await rows.findUndelivered(manager, tx.txId);
  const deliveries = await rows.findDeliveries(manager, tx.txId);
  const frozen = await rows.findFrozen(manager, tx);
  const doubted = tx.accountId === null ? [] : await findDoubtedOrdinals(manager, tx.chain, tx.accountId);
  const definition = chains.find(({ name }) => name === tx.chain);
  const abandoned = findAbandoned(tx, definition);
  const behind = await findBefore(manager, tx);
  const timeLeftMs = tx.isSigned && !isEnded(tx) ? await getSignedType(tx.transactionType).timeLeft(manager, tx) : null;
  const startWaitsSince = undelivered.find(({ kind }) => kind === 'start_transfer')?.since ?? null;
  const approvalRefusal = await whyUndecidable(manager, tx);
  const redo = { made: await findRedo(manager, tx), refusal: await whyNotRedone(manager, tx) };
  const isCompared = await areOrdersCompared(manager);
  return {
    transaction: { ...describeTransaction(tx, client?.name ?? null, definition), retried_by: redo.made?.txId ?? null },
    state: {
      status: tx.status,
      since: tx.updatedAt,
      failure_code: tx.failureCode,
      failure: tx.failureMessage,
      why: explainState({ tx, workflow, startWaitsSince, behind, timeLeftMs, areOrdersCompared: isCompared }),
    },
    actions: findActions({
      ...{ tx, attempts, workflow, abandoned, approvalRefusal, areOrdersCompared: isCompared },
      ...{ redo, frozen, doubted, deliveries },
    }),
    workflow,
    undelivered,
    timeline: await findTimeline(manager, tx.txId),
    approval: tx.approvalExpiresAt && {
      expires_at: tx.approvalExpiresAt,
      approved_by: tx.approvedBy,
      approved_at: tx.approvedAt,
    },
    orders: await rows.findOrders(manager, tx.txId),
    attempts: await showAttempts(manager, attempts, tx, chain),
    chain: { state: chain.state, note: chain.note, head: chain.head },
    locked: await rows.findLocked(manager, tx.txId),
    postings: await rows.findPostings(manager, tx),
    frozen_assets: frozen,
    related: await rows.findChildren(manager, tx.txId),
    webhooks: deliveries,
    audit: await rows.findAuditRows(manager, tx.txId),
  };
}

function describeTransaction(tx: TransactionEntity, clientName: string | null, chain: ChainDefinition | undefined) {
  return {
    tx_id: tx.txId,
    type: tx.transactionType,
    client_id: tx.clientId,
    client: clientName,
    wallet_id: tx.walletId,
    account_id: tx.accountId,
    chain: tx.chain,
    amount: formatAmount(tx.amount, tx.decimals),
    symbol: tx.tokenSymbol,
    from: tx.fromAddress,
    to: tx.toAddress,
    sender: tx.senderAddress,
    tx_hash: tx.txHash,
    explorer: explorerLink(tx, chain),
    block_number: tx.blockNumber?.toString() ?? null,
    fee: toFee(tx, tx.fee),
    fee_locked: toFee(tx, tx.feeLocked),
    external_id: tx.externalId,
    requested_by: tx.requestedBy,
    request_id: tx.requestId,
    parent_tx_id: tx.parentTxId,
    retry_of: tx.retryOf,
    created_at: tx.createdAt,
    ended_at: tx.endedAt,
  };
}

const toFee = ({ feeSymbol, feeDecimals }: TransactionEntity, amount: bigint | null): string | null =>
  amount === null || feeSymbol === null || feeDecimals === null ? null : `${formatAmount(amount, feeDecimals)} ${feeSymbol}`;

const explorerLink = ({ txHash }: TransactionEntity, chain: ChainDefinition | undefined): string | null =>
  (txHash !== null && chain?.explorerTx?.replace('{hash}', txHash)) || null;

function findAbandoned(tx: TransactionEntity, chain: ChainDefinition | undefined): FamilyRules['abandoned'] | null {
  return tx.isSigned && chain ? rulesOf(getSignedType(tx.transactionType), getFamily(chain.family)).abandoned : null;
}

/** Another one of the same sender that is executed first, or that keeps this one from beginning. */
async function findBefore(manager: EntityManager, tx: TransactionEntity): Promise<string | null> {
  if (!tx.isSigned || isEnded(tx)) return null;
  const before = await findUnexecutedBefore(manager, tx.txId);
  if (before !== undefined || tx.signingBegunAt !== null) return before ?? null;
  const signer = await getSignedType(tx.transactionType)
    .findSigner(manager, tx)
    // one that may not sign is refused by the step that asks; this page is shown all the same
    .catch(() => null);
  if (!signer) return null;
  return (await findParkedBefore(manager, { chain: tx.chain, addressKey: signer.addressKey })) ?? null;
}
