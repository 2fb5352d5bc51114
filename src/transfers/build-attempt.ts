import type { EntityManager } from 'typeorm';
import type { FamilyCodec, ReservationOwner } from '../chains/family';
import { findReservations } from '../chains/reservations';
import type { AttemptKind, ChainDefinition, Hex, Prepared } from '../chains/types';
import type { Signer } from '../messages/signing';
import type { TransactionEntity } from '../transactions/entity';
import { toIntent } from '../transactions/intent';
import type { AuthoriserDependencies } from './dependencies';
import { NotBegun } from './not-begun';
import { findSigners } from './signers';
import { insertAttempt } from './store-attempt';

/** The data of an attempt that its order contains. */
export interface OrderableAttempt {
  attempt: number;
  kind: AttemptKind;
  prepared: Prepared;
  unsigned: Hex;
  signers: Signer[];
}

export interface BuiltAttempt extends OrderableAttempt {
  store(): Promise<void>;
}

/** What an attempt is built from. */
interface Plan {
  transfer: TransactionEntity;
  source: ReservationOwner;
  attempt: number;
  kind: AttemptKind;
  prepared: Prepared;
}

/**
 * Reserves what the attempt uses up and builds its bytes; `store` writes them. For a transfer whose signing has begun.
 * @throws NotBegun when the family cannot reserve now; Error when the bytes use up anything that was not reserved, or may cost more
 * than their stated bound.
 */
export async function buildAttempt(
  manager: EntityManager,
  { registry, getFamily, alarms }: Pick<AuthoriserDependencies, 'registry' | 'getFamily' | 'alarms'>,
  { transfer, source, attempt, kind, prepared }: Plan,
): Promise<BuiltAttempt> {
  const { txId, fromAddress } = transfer;
  const chain = registry.get(transfer.chain);
  const family = getFamily(chain.family);
  const reserved = await family.reserve(manager, source, prepared, txId, kind);
  if (reserved.outcome === 'wait' && reserved.alert) alarms.raise(reserved.alert, source, reserved.reason);
  if (reserved.outcome !== 'reserved') throw new NotBegun(reserved);
  const { resources } = reserved;
  const { unsigned, signers } = await assemble(manager, { chain, family }, transfer, { kind, prepared, resources });
  const described = family.describe(unsigned);
  assertSameResources(txId, described.resources, resources);
  if (described.maxNetworkFee > BigInt(prepared.feeBound))
    throw new Error(`the bytes for ${txId} may cost ${described.maxNetworkFee}, their bound is ${prepared.feeBound}`);
  const messageKey = family.messageKey(unsigned, fromAddress);
  const row = { txId, attempt, kind, chain: chain.name, prepared, unsigned, signers, messageKey, resources };
  return { attempt, kind, prepared, unsigned, signers, store: () => insertAttempt(manager, row) };
}

/**
 * A stored attempt, built anew: the order over it must not depend on rows that another process could have written.
 * @throws Error when the stored bytes are not those that the transfer's own data give, or use up anything that it does not hold.
 */
export async function rebuildAttempt(
  manager: EntityManager,
  { registry, getFamily }: Pick<AuthoriserDependencies, 'registry' | 'getFamily'>,
  transfer: TransactionEntity,
  { attempt, kind, prepared, unsigned }: OrderableAttempt,
): Promise<OrderableAttempt> {
  const { txId } = transfer;
  const chain = registry.get(transfer.chain);
  const family = getFamily(chain.family);
  const { resources } = family.describe(unsigned);
  const held = (await findReservations(manager, txId)).map(({ resource }) => resource);
  const foreign = resources.filter((resource) => !held.includes(resource));
  const built = await assemble(manager, { chain, family }, transfer, { kind, prepared, resources });
  if (foreign.length > 0 || built.unsigned !== unsigned) throw new Error(`attempt ${attempt} of ${txId} is not what was begun`);
  return { attempt, kind, prepared, ...built };
}

/** The bytes that a transfer's own data give, and who signs them. */
async function assemble(
  manager: EntityManager,
  { chain, family }: { chain: ChainDefinition; family: FamilyCodec },
  transfer: TransactionEntity,
  { kind, prepared, resources }: { kind: AttemptKind; prepared: Prepared; resources: string[] },
): Promise<Pick<OrderableAttempt, 'unsigned' | 'signers'>> {
  const unsigned = family.build({ chain, intent: toIntent(transfer, kind), kind, prepared, resources });
  const payloads = family.signingPayloads(unsigned, transfer.fromAddress);
  return { unsigned, signers: await findSigners(manager, transfer, chain, payloads) };
}

function assertSameResources(txId: string, used: string[], reserved: string[]): void {
  if (used.length !== reserved.length || used.some((resource) => !reserved.includes(resource)))
    throw new Error(`the bytes for ${txId} use up ${used.join(', ')}, but ${reserved.join(', ')} is reserved`);
}
