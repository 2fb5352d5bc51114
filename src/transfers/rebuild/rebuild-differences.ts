import { isDeepStrictEqual } from 'node:util';
import type { ChainDefinition } from '../../chains/types';
import type { SigningClaims } from '../../messages/order';
import type { TransactionEntity } from '../../transactions/entity';
import { toAttemptIntent, toPayment } from '../../transactions/intent';
import { hashRequest } from '../accept/hash-request';
import { cannot } from './rebuild-attempt';

/**
 * The row of a transfer has to say what was ordered: a row that was changed, or orders that contradict each other, are for an operator.
 * The Idempotency-Key is compared where the row has one.
 * @throws GatewayError business_error that names what differs.
 */
export function assertAsOrdered(chain: ChainDefinition, transfer: TransactionEntity, claims: SigningClaims): void {
  const { clientId, idempotencyKey } = transfer;
  const { from, outputs, memo } = toAttemptIntent(toPayment(transfer), claims.kind === 'cancellation' ? 'cancellation' : 'first');
  const [output] = outputs;
  const [paid] = claims.recipients;
  const same: Record<string, boolean> = {
    chain: claims.chain === chain.caip2 && transfer.chain === chain.name,
    client: claims.client_id === clientId,
    sender: claims.from === from,
    'number of recipients': claims.recipients.length === outputs.length,
    recipient: paid?.address === output?.recipient,
    token: isDeepStrictEqual(paid?.token, output?.tokenContract),
    amount: paid?.amount === output?.amount.toString(),
    memo: claims.memo === memo,
    'Idempotency-Key': idempotencyKey === null || claims.request === hashRequest(clientId, idempotencyKey),
  };
  const differences = Object.keys(same).filter((name) => !same[name]);
  if (differences.length > 0) throw cannot(`its order ${claims.jti} and the database differ in: ${differences.join(', ')}`);
}
