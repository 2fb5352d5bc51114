import type { FamilyCodec } from '../../chains/family';
import type { ChainDefinition, Hex } from '../../chains/types';
import type { AttemptFacts, AuthorisationFacts, EarlierAttempt, OrderSigner, SettlementFacts } from '../../messages/order';
import type { Signer } from '../../messages/signing';
import type { TransactionEntity } from '../../transactions/entity';
import type { SignedType } from '../../transactions/signed-type';
import type { Attempt } from '../attempts';
import type { OrderableAttempt } from './build-attempt';
import { hashRequest } from '../accept/hash-request';

interface OrderContext {
  chain: ChainDefinition;
  family: FamilyCodec;
  type: SignedType;
}

/** What an order over an attempt's bytes says. `earlier`: the attempts before it. */
export function toOrderFacts(
  { chain, family, type }: OrderContext,
  transfer: TransactionEntity,
  { attempt, kind, intent, prepared, unsigned, signers, clientId }: OrderableAttempt,
  earlier: readonly Attempt[],
): AttemptFacts {
  const facts = {
    tx_id: transfer.txId,
    attempt,
    client_id: clientId,
    request: transfer.idempotencyKey === null ? null : hashRequest(transfer.clientId, transfer.idempotencyKey),
    signers: signers.map(toOrderSigner),
    chain: chain.caip2,
    from: intent.from,
    recipients: intent.outputs.map(({ recipient: address, tokenContract: token, amount }) => ({
      address,
      token,
      amount: amount.toString(),
    })),
    max_fee: prepared.feeBound,
    ...(intent.memo !== undefined && { memo: intent.memo }),
  };
  const orderKind = kind === 'first' ? type.orderKind : kind;
  const settlement = toSettlement(family, transfer, unsigned);
  const isWithdrawal = type.orderKind === 'withdrawal';
  switch (orderKind) {
    case 'reissue':
      return { kind: orderKind, ...facts, earlier: earlier.map(toEarlierAttempt) };
    case 'settlement':
      if (!settlement) throw new Error(`the bytes of attempt ${attempt} of ${transfer.txId} settle nothing`);
      return { kind: orderKind, ...facts, settlement };
    case 'replacement':
      return { kind: orderKind, ...facts, ...(settlement && { settlement }), ...(isWithdrawal && { purpose: 'withdrawal' }) };
    case 'typed_data':
      return { kind: orderKind, ...facts, authorisation: toAuthorisation(family, transfer, unsigned) };
    default:
      return { kind: orderKind, ...facts };
  }
}

/** undefined: the bytes are of another kind, a cancellation included. */
function toSettlement(family: FamilyCodec, { clientId }: TransactionEntity, unsigned: Hex): SettlementFacts | undefined {
  const { settlement, expiresAt } = family.describe(unsigned);
  if (!settlement || expiresAt === undefined) return undefined;
  const { method, payer, identity, authorised } = settlement;
  return { client_id: clientId, method, payer, identity, authorised: authorised.toString(), window_end: expiresAt };
}

function toAuthorisation(family: FamilyCodec, { txId }: TransactionEntity, unsigned: Hex): AuthorisationFacts {
  const { authorisation, expiresAt } = family.describe(unsigned);
  if (!authorisation || expiresAt === undefined) throw new Error(`the bytes for ${txId} authorise nothing`);
  const { method, identity, facilitator } = authorisation;
  return { method, identity, facilitator, window_end: expiresAt };
}

const toOrderSigner = ({ keyId, path, protocol, digests }: Signer): OrderSigner => ({ key_id: keyId, path, protocol, digests });

const toEarlierAttempt = ({ attempt, signers, unsigned, begunAt }: Attempt): EarlierAttempt => ({
  attempt,
  digests: signers.flatMap(({ digests }) => digests),
  unsigned,
  begun_at: Math.floor(begunAt.getTime() / 1_000),
});
