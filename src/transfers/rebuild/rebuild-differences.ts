import { isDeepStrictEqual } from 'node:util';
import type { ChainDefinition } from '../../chains/types';
import type { SigningClaims } from '../../messages/order';
import type { TransactionEntity } from '../../transactions/entity';
import { toAttemptIntent, toPayment } from '../../transactions/intent';
import { hashRequest } from '../accept/hash-request';
import { settlementType } from '../../transactions/types';
import { houseClientId } from '../../platform/house';
import { cannot } from './rebuild-attempt';
import { getSettled } from './rebuild-settlement';

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
    client: isOfClient(transfer, claims),
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

/** A settlement is signed by the house; the order of its cancellation does not say for whom. */
function isOfClient({ clientId, transactionType }: TransactionEntity, claims: SigningClaims): boolean {
  if (transactionType !== settlementType) return claims.client_id === clientId;
  const isForClient = claims.kind === 'cancellation' || getSettled(claims)?.client_id === clientId;
  return claims.client_id === houseClientId && isForClient;
}
