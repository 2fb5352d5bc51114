import type { EntityManager } from 'typeorm';
import { ClientEntity } from '../../auth/entity';
import { tokenByContract } from '../../chains/registry';
import type { SigningClaims } from '../../messages/order';
import { TransactionEntity } from '../../transactions/entity';
import type { GetSignedType } from '../../transactions/signed-type';
import { settlementType } from '../../transactions/types';
import { cannot, findBytes, type KnownOrder, type RebuiltSource } from './rebuild-attempt';

/** What an order says of the payment that it settles; undefined: it settles none, as a cancellation of a settlement. */
export const getSettled = (claims: SigningClaims) => ('settlement' in claims ? claims.settlement : undefined);

/**
 * A settlement as it was accepted, as far as its orders say: the user who has asked for it is unknown. Nothing is held: its settler is
 * charged when it ends.
 * @throws GatewayError business_error with the reason why it cannot be rebuilt.
 */
export async function insertSettlement(
  manager: EntityManager,
  getSignedType: GetSignedType,
  { chain, family, account }: RebuiltSource,
  orders: readonly KnownOrder[],
): Promise<TransactionEntity> {
  const known = orders.find(({ claims }) => getSettled(claims) !== undefined);
  const settled = known && getSettled(known.claims);
  const [output, ...others] = known?.claims.recipients ?? [];
  const to = output && family.parseAddress(output.address);
  const token = output && tokenByContract(chain, output.token);
  if (!known || !settled || !to || !token || others.length > 0) throw cannot('its orders do not say what it settles');
  const { client_id: clientId, payer } = settled;
  if (!(await manager.existsBy(ClientEntity, { clientId }))) throw cannot(`the client ${clientId} is not in the database`);
  const txId = known.claims.tx_id;
  await manager.insert(TransactionEntity, {
    ...{ txId, clientId, chain: chain.name, transactionType: settlementType, status: 'PENDING', version: 0 },
    ...{ fromAddress: payer, senderAddress: account.address, toAddress: to.address, toAddressKey: to.key },
    ...{ tokenSymbol: token.symbol, contractAddress: token.contract, decimals: token.decimals, amount: BigInt(output.amount) },
    ...{ feeSymbol: chain.native.symbol, feeDecimals: chain.native.decimals, feeLocked: 0n },
    requiredConfirmations: chain.confirmations,
  });
  const described = family.describe(findBytes(family, known.claims, known.bytes));
  const feeBound = orders.reduce(
    (highest, { claims }) => (BigInt(claims.max_fee) > highest ? BigInt(claims.max_fee) : highest),
    0n,
  );
  await getSignedType(settlementType).rebuild?.(manager, { txId, clientId }, { chain, described, feeBound });
  return manager.findOneByOrFail(TransactionEntity, { txId });
}

/**
 * What is stored of a settlement has to be what each of its bytes settles, cancellations excepted.
 * @throws GatewayError business_error that names the first difference.
 */
export async function assertSettles(
  manager: EntityManager,
  getSignedType: GetSignedType,
  { chain, family }: RebuiltSource,
  transaction: TransactionEntity,
  { claims, bytes }: KnownOrder,
): Promise<void> {
  if (claims.kind === 'cancellation') return;
  const type = getSignedType(transaction.transactionType);
  const intent = await type.loadIntent(manager, transaction);
  const described = family.describe(findBytes(family, claims, bytes));
  const difference = await type.findDifference?.(manager, transaction, { chain, intent, described });
  if (difference) throw cannot(`its order ${claims.jti} and the database differ in: ${difference}`);
}
