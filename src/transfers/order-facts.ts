import type { FamilyCodec } from '../chains/family';
import type { AttemptKind, ChainDefinition } from '../chains/types';
import type { AttemptFacts, EarlierAttempt, OrderSigner } from '../messages/order';
import type { Signer } from '../messages/signing';
import type { TransactionEntity } from '../transactions/entity';
import { toIntent } from '../transactions/intent';
import type { Attempt } from './attempts';
import type { OrderableAttempt } from './build-attempt';
import { hashRequest } from './hash-request';

const orderKinds = {
  first: 'transfer',
  replacement: 'replacement',
  reissue: 'reissue',
  cancellation: 'cancellation',
} as const satisfies Record<AttemptKind, string>;

/** What an order over an attempt's bytes says. `earlier`: the attempts before it. */
export function toOrderFacts(
  chain: ChainDefinition,
  family: FamilyCodec,
  transfer: TransactionEntity,
  { attempt, kind, prepared, signers }: OrderableAttempt,
  earlier: readonly Attempt[],
): AttemptFacts {
  const { from, outputs } = toIntent(transfer, kind);
  const facts = {
    tx_id: transfer.txId,
    attempt,
    client_id: transfer.clientId,
    request: transfer.idempotencyKey === null ? null : hashRequest(transfer.clientId, transfer.idempotencyKey),
    signers: signers.map(toOrderSigner),
    chain: chain.caip2,
    from,
    recipients: outputs.map(({ recipient: address, tokenContract: token, amount }) => ({
      address,
      token,
      amount: amount.toString(),
    })),
    max_fee: prepared.feeBound,
  };
  const orderKind = orderKinds[kind];
  if (orderKind !== 'reissue') return { kind: orderKind, ...facts };
  return { kind: orderKind, ...facts, earlier: earlier.map((it) => toEarlierAttempt(family, it)) };
}

const toOrderSigner = ({ keyId, path, protocol, digests }: Signer): OrderSigner => ({ key_id: keyId, path, protocol, digests });

const toEarlierAttempt = (family: FamilyCodec, { attempt, signers, expiry, unsigned }: Attempt): EarlierAttempt => ({
  attempt,
  digests: signers.flatMap(({ digests }) => digests),
  expiry,
  resources: family.describe(unsigned).resources,
});
