import type { EntityManager } from 'typeorm';
import { audit, type AuditActor } from '../../audit/log';
import type { WorkflowOutbox } from '../../outbox/outbox';
import { inTransaction, requestTransaction } from '../../platform/database';
import { GatewayError } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { formatAmount } from '../../platform/money';
import type { TransactionEntity } from '../../transactions/entity';
import { findTransaction } from '../../transactions/state';
import { acceptParsed, type AcceptDependencies, type Acceptance } from '../accept/accept';
import { type AcceptedKind, toTransfer } from '../accept/accepted-kind';
import { redoKey } from '../accept/redone';
import { parseTransfer, type TransferRequest } from '../accept/request';
import { claimRedoRequests, deferRedoRequest, endRedoRequest, maxMinutes, type RedoRequest } from './requests';
import { assertRequesterActive, findRedo, whyNotRedone } from './rules';

export interface RedoDependencies extends AcceptDependencies {
  /** Starts the workflow directly after the commit. */
  outbox: Pick<WorkflowOutbox, 'deliverSoon'>;
}

/** Requests that are claimed at once; each is carried out within the lease. */
const batch = 5;
const batchesARound = 20;

/**
 * Carries out what operators want redone, as the API does what clients ask for: each is accepted by the rules of POST /transfer at this moment,
 * under the key of a redo, in one database transaction with the answer to the operator. Several copies of the API may do it.
 * @throws AggregateError of what has failed for no reason that an operator is told, once all were tried: those are tried again.
 */
export async function carryOutRedoRequests(deps: RedoDependencies): Promise<void> {
  const failures: unknown[] = [];
  for (let round = 0; round < batchesARound; round += 1) {
    const requests = await claimRedoRequests(deps.database, batch);
    for (const request of requests) await carryOut(deps, request).catch((error: unknown) => failures.push(error));
    if (requests.length < batch) break;
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} transfers cannot be redone now`);
}

async function carryOut(deps: RedoDependencies, request: RedoRequest): Promise<void> {
  const { manager } = deps.database;
  const original = await findTransaction(manager, request.txId);
  try {
    const acceptance = await redo(deps, request, original);
    if (acceptance.replayed) return;
    const { clientId, chain } = original;
    deps.outbox.deliverSoon({ kind: 'start_transfer', subjectId: acceptance.txId, clientId, chain });
  } catch (error) {
    if (error instanceof AnsweredMeanwhile) return;
    if (!(error instanceof GatewayError)) throw error;
    if (isForNow(error) && !request.isLate) return deferRedoRequest(manager, request.requestId, error);
    await inTransaction(deps.database, (it) => refuse(it, request, original, toAnswer(error, original)), requestTransaction);
  }
}

/** Another copy of the API has taken the request after the lease, and the operator has its answer: nothing of this one is kept. */
class AnsweredMeanwhile extends Error {}

/** When the API could not carry it out for so long, or was not running. */
const tooLate = ({ failureCode, failureMessage }: RedoRequest): GatewayError =>
  new GatewayError(
    failureCode ?? 'unavailable',
    `It was not made within ${maxMinutes} minutes, and is not made later${failureMessage === null ? '' : `: ${failureMessage}`}`,
  );

const isForNow = ({ status, retryAfterSeconds }: GatewayError): boolean => status >= 500 || retryAfterSeconds !== undefined;

const toAnswer = (error: GatewayError, { txId }: TransactionEntity): GatewayError =>
  error.code === 'idempotency_key_reused'
    ? new GatewayError(error.code, `Its client has used the Idempotency-Key ${redoKey(txId)} for something else`, {
        cause: error,
      })
    : error;

async function redo(deps: RedoDependencies, request: RedoRequest, original: TransactionEntity): Promise<Acceptance> {
  const { manager } = deps.database;
  const made = await findRedo(manager, original);
  // one that is linked is the same whatever its key was
  if (made?.retryOf === original.txId) {
    await endRedoRequest(manager, request.requestId, made);
    return { txId: made.txId, status: made.status, replayed: true };
  }
  const refusal = request.isLate && !made ? tooLate(request) : await whyNotRedone(manager, original);
  if (refusal) throw refusal;
  const store = async (it: EntityManager, answer: Acceptance | GatewayError): Promise<void> => {
    // the caller records a refusal, also one that is not stored here
    if (answer instanceof GatewayError) return;
    if (!(await endRedoRequest(it, request.requestId, answer))) throw new AnsweredMeanwhile();
    await forgetRefusal(it, original);
  };
  return acceptParsed(deps, parseTransfer(deps, toRequest(request, original)), toRedo(deps, original), store);
}

/** Everything but who asks is of the row: an operator chooses neither amount nor destination nor client. */
function toRequest({ requestId, operator }: RedoRequest, original: TransactionEntity): TransferRequest {
  const { txId, clientId, requestedBy } = original;
  if (requestedBy === null) throw new Error(`nobody has requested transaction ${txId}`);
  return {
    ...{ txId: newId(), clientId, userId: requestedBy, by: toOperator(operator) },
    requestId: `redo-request-${requestId}`,
    idempotencyKey: redoKey(txId),
    retryOf: txId,
    fromAddress: original.fromAddress,
    toAddress: original.toAddress,
    chain: original.chain,
    tokenSymbol: original.tokenSymbol,
    amount: formatAmount(original.amount, original.decimals),
    // its own name stays with the original
    externalId: null,
    memo: original.memo,
    memoOnChain: original.memoOnChain,
    allowsProgram: original.allowsProgram,
  };
}

const toOperator = (id: string): AuditActor => ({ type: 'operator', id });

const toRedo = (deps: RedoDependencies, original: TransactionEntity): AcceptedKind => ({
  ...toTransfer(deps),
  action: 'transfer.redone',
  store: (manager) => assertRequesterActive(manager, original),
});

/** What the key was refused for is true no more: repeated, the request of the client gets this transfer. */
async function forgetRefusal(manager: EntityManager, { txId, clientId }: TransactionEntity): Promise<void> {
  await manager.query('delete from idempotency_keys where client_id = $1 and key = $2 and response_status >= 400', [
    clientId,
    redoKey(txId),
  ]);
}

async function refuse(
  manager: EntityManager,
  { requestId, operator }: RedoRequest,
  { txId, clientId, status }: TransactionEntity,
  refusal: GatewayError,
): Promise<void> {
  if (!(await endRedoRequest(manager, requestId, refusal))) return;
  await audit(manager, {
    ...{ action: 'transfer.redone', outcome: 'refused', actor: toOperator(operator), clientId },
    subject: { type: 'transaction', id: txId },
    detail: { status, code: refusal.code, reason: refusal.message },
    requestId: `redo-request-${requestId}`,
  });
}
