import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from 'typeorm';
import type { AccountEntity } from '../../accounts/entity';
import type { Family } from '../../chains/family';
import { findReservations, insertReservation } from '../../chains/reservations';
import type { ChainDefinition, Hex } from '../../chains/types';
import type { SigningClaims } from '../../messages/order';
import { toAttemptKind } from '../../mpc/open-order';
import { storeShownOrder } from '../../orders/store-order';
import { GatewayError } from '../../platform/errors';
import { TransactionEntity } from '../../transactions/entity';
import type { Attempt } from '../attempts';
import { loadAttempts } from '../load-attempts';
import { raiseHold } from '../hold';
import { NotBegun } from '../sign/not-begun';
import { recordAbandonRequest } from '../operate/operator-requests';
import { insertAttempt } from '../sign/store-attempt';

/** An order over the bytes of a transfer that the database does not have. */
export interface KnownOrder {
  claims: SigningClaims;
  /** What was shown as its bytes; those count that have the digests of the order. */
  bytes: readonly Hex[];
}

export interface RebuiltSource {
  chain: ChainDefinition;
  family: Family;
  account: AccountEntity;
}

/** Why a transfer cannot be rebuilt. */
export const cannot = (reason: string): GatewayError => new GatewayError('business_error', reason);

/** The account cannot hold the fee of a later attempt, now. */
export class NotCovered extends GatewayError {
  constructor(attempt: number) {
    super(
      'business_error',
      `the account cannot hold the fee of attempt ${attempt}: it is frozen, or does not have the coins yet`,
    );
  }
}

/** The attempt, if it is not stored, and the order. @throws GatewayError business_error; NotCovered. */
export async function storeAttempt(
  manager: EntityManager,
  source: RebuiltSource,
  txId: string,
  { claims, bytes }: KnownOrder,
): Promise<void> {
  const { attempt } = claims;
  const unsigned = findBytes(source.family, claims, bytes);
  const stored = (await loadAttempts(manager, txId)).find(attempt);
  if (stored) assertSame(stored, claims, unsigned);
  else await addAttempt(manager, source, txId, { claims, unsigned });
  await storeShownOrder(manager, claims, { txId, attempt });
}

function assertSame(stored: Attempt, claims: SigningClaims, unsigned: Hex): void {
  const differences = [
    ...(stored.unsigned === unsigned ? [] : ['bytes']),
    ...(stored.kind === toAttemptKind(claims) ? [] : ['kind']),
    ...(stored.prepared.feeBound === claims.max_fee ? [] : ['fee bound']),
  ];
  if (differences.length > 0) throw cannot(`attempt ${stored.attempt} has another ${differences.join(', ')} in the database`);
}

async function addAttempt(
  manager: EntityManager,
  { chain, family, account }: RebuiltSource,
  txId: string,
  { claims, unsigned }: { claims: SigningClaims; unsigned: Hex },
): Promise<void> {
  const { attempt, from } = claims;
  const transfer = await manager.findOneByOrFail(TransactionEntity, { txId });
  const kind = toAttemptKind(claims);
  if (transfer.isHeld)
    await raiseHold(manager, transfer, { fee: BigInt(claims.max_fee), attempt, kind }).catch((error: unknown) => {
      throw error instanceof NotBegun ? new NotCovered(attempt) : error;
    });
  if (claims.kind === 'cancellation') await keepReason(manager, txId, attempt);
  const described = family.describe(unsigned);
  await takeResources(manager, { chain, family, account }, txId, described.resources);
  await insertAttempt(manager, {
    ...{ txId, attempt, kind, chain: chain.name, unsigned, owner: account.addressKey, described },
    prepared: family.recover(unsigned, BigInt(claims.max_fee)),
    signers: claims.signers.map(({ key_id: keyId, ...signer }) => ({ keyId, ...signer })),
    messageKey: family.messageKey(unsigned, from),
  });
}

/**
 * The authoriser reads again why a transfer is cancelled, and the reason is lost with the attempt: the operator who rebuilds it takes its
 * place.
 */
async function keepReason(manager: EntityManager, txId: string, attempt: number): Promise<void> {
  if ((await loadAttempts(manager, txId)).hasCancellation) return;
  await recordAbandonRequest(manager, { txId, attempt: attempt - 1, operator: 'reconcile' });
}

/** @throws GatewayError business_error when no bytes have the digests of the order. */
export function findBytes(family: Family, claims: SigningClaims, bytes: readonly Hex[]): Hex {
  const found = findOrderedBytes(family, claims, bytes);
  if (!found) throw cannot(`no node shows the bytes of attempt ${claims.attempt}`);
  return found;
}

/** Those that have the digests of the order. */
export function findOrderedBytes(family: Family, { from, signers }: SigningClaims, bytes: readonly Hex[]): Hex | undefined {
  const ordered = signers.flatMap(({ digests }) => digests).sort();
  return bytes.find((candidate) => {
    try {
      const digests = family.signingPayloads(candidate, from).map(({ digest }) => digest);
      return isDeepStrictEqual(digests.sort(), ordered);
    } catch {
      return false;
    }
  });
}

async function takeResources(
  manager: EntityManager,
  { chain, family, account }: RebuiltSource,
  txId: string,
  resources: readonly string[],
): Promise<void> {
  const held = new Set((await findReservations(manager, txId)).map(({ resource }) => resource));
  const owner = { chain: chain.name, accountId: account.accountId, addressKey: account.addressKey };
  for (const resource of resources.filter((it) => !held.has(it)))
    await insertReservation(manager, owner, txId, { resource, ordinal: family.getOrdinal(resource) });
}
