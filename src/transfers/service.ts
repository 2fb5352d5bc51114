import type { RequestedBy } from '../audit/log';
import type { Caller, IdempotencyContext } from '../http/context';
import type { WorkflowOutbox } from '../outbox/outbox';
import { GatewayError } from '../platform/errors';
import { newId } from '../platform/ids';
import { type Acceptance, type AcceptDependencies, acceptTransfer, type StoreAnswer } from './accept/accept';
import { estimateTransfer, type TransferEstimate } from './accept/estimate';
import type { TransferRequest } from './accept/request';
import { cancelTransfer } from './end/cancel';
import { toAnswer } from './presenter';
import type { CreateTransfer } from './schema';

export interface TransferServiceDependencies extends AcceptDependencies {
  outbox: WorkflowOutbox;
}

/** Transfers as clients request them: every act is one database transaction, and the workflow is signalled afterwards. */
export class TransferService {
  constructor(private readonly deps: TransferServiceDependencies) {}

  /** @throws GatewayError as acceptTransfer. */
  async accept(
    { clientId, userId }: Caller,
    { resourceId: txId, idempotencyKey, storeAnswer }: IdempotencyContext,
    requestId: string,
    input: CreateTransfer,
  ): Promise<Acceptance> {
    const request = toRequest({ txId, clientId, userId, requestId, idempotencyKey }, input);
    const store: StoreAnswer = (manager, answer) =>
      storeAnswer(manager, answer instanceof GatewayError ? answer : toAnswer(answer));
    const acceptance = await acceptTransfer(this.deps, request, store);
    if (!acceptance.replayed)
      this.deps.outbox.deliverSoon({ kind: 'start_transfer', subjectId: txId, clientId, chain: input.chain });
    return acceptance;
  }

  /** What the same transfer would take now; changes nothing. @throws GatewayError as estimateTransfer. */
  estimate({ clientId, userId }: Caller, requestId: string, input: CreateTransfer): Promise<TransferEstimate> {
    return estimateTransfer(this.deps, toRequest({ txId: newId(), clientId, userId, requestId, idempotencyKey: null }, input));
  }

  /** Cancels a transfer; no effect when it is already cancelled. @throws GatewayError not_found, not_cancellable. */
  async cancel(clientId: string, txId: string, by: RequestedBy): Promise<void> {
    const isCancelled = await cancelTransfer(this.deps.database, { clientId, txId, by });
    // a client may repeat the call: each message would stay in the history of the workflow
    if (isCancelled) this.deps.outbox.deliverSoon({ kind: 'transfer_ended', subjectId: txId, clientId });
  }
}

const toRequest = (
  by: Pick<TransferRequest, 'txId' | 'clientId' | 'userId' | 'requestId' | 'idempotencyKey'>,
  input: CreateTransfer,
): TransferRequest => ({
  ...by,
  fromAddress: input.from_address,
  toAddress: input.to_address,
  chain: input.chain,
  tokenSymbol: input.token_symbol,
  amount: input.amount,
  externalId: input.external_id ?? null,
  retryOf: null,
  memo: input.memo ?? null,
  memoOnChain: input.on_chain_memo ?? false,
  allowsProgram: input.allow_program_address ?? false,
});
