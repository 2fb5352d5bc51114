import type { EntityManager } from 'typeorm';
import type { FamilyCodec, ReservationOwner, TransactionPlan } from '../../chains/family';
import { findReservations } from '../../chains/reservations';
import type { AccountEntity } from '../../accounts/entity';
import type { AttemptKind, ChainDefinition, Hex, Prepared, TransactionDescription, TransactionIntent } from '../../chains/types';
import { longestPaymentSeconds } from '../../messages/order';
import type { Signer } from '../../messages/signing';
import type { TransactionEntity } from '../../transactions/entity';
import { toAttemptIntent } from '../../transactions/intent';
import type { BuiltTransaction, SignedType } from '../../transactions/signed-type';
import type { Attempt } from '../attempts';
import type { AuthoriserDependencies } from '../dependencies';
import { NotBegun, refuse, refuseFollowed } from './not-begun';
import { findSigners } from './signers';
import { insertAttempt } from './store-attempt';

/** The data of an attempt that its order contains. */
export interface OrderableAttempt {
  attempt: number;
  kind: AttemptKind;
  /** What this attempt does. */
  intent: TransactionIntent;
  prepared: Prepared;
  unsigned: Hex;
  signers: Signer[];
  /** Whose keys the signers are. */
  clientId: string;
}

export interface BuiltAttempt extends OrderableAttempt {
  store(): Promise<void>;
}

/** What an attempt is built from. */
interface Plan {
  transfer: TransactionEntity;
  /** What the transfer is to do. */
  intent: TransactionIntent;
  signer: AccountEntity;
  attempt: number;
  kind: AttemptKind;
  reserved: Reserved;
}

/** What an attempt uses up, and its facts as they are then. */
interface Reserved {
  resources: string[];
  prepared: Prepared;
  packageFee?: bigint;
}

interface ReserveRequest {
  txId: string;
  intent: TransactionIntent;
  source: ReservationOwner;
  kind: AttemptKind;
  prepared: Prepared;
}

/** Reserves what an attempt uses up, for a transfer whose signing has begun. @throws NotBegun when the family cannot reserve now. */
export async function reserveForAttempt(
  manager: EntityManager,
  { registry, getFamily, alarms }: Pick<AuthoriserDependencies, 'registry' | 'getFamily' | 'alarms'>,
  { txId, intent, source, kind, prepared }: ReserveRequest,
): Promise<Reserved> {
  const chain = registry.get(source.chain);
  const family = getFamily(chain.family);
  const reserved = await family.reserve(manager, source, prepared, txId, kind, toAttemptIntent(intent, kind));
  if (reserved.outcome === 'wait' && reserved.alert) {
    const { accountId } = source;
    const facts = { alert: reserved.alert, chain: chain.name, account_id: accountId };
    alarms.raise(`${chain.name} ${accountId}`, facts, reserved.reason);
  }
  if (reserved.outcome === 'follow') refuseFollowed(reserved.reason);
  if (reserved.outcome === 'wait' && reserved.doubt) {
    const { doubt: count, ...result } = reserved;
    throw new NotBegun(result, { owner: source, count });
  }
  if (reserved.outcome !== 'reserved') throw new NotBegun(reserved);
  return { prepared, ...reserved };
}

/**
 * Builds the bytes of an attempt from what it has reserved; `store` writes them.
 * @throws NotBegun for stored facts that the bytes contradict; Error when the bytes use up anything that was not reserved, may cost more
 * than their stated bound, or are another kind of action than the intent's.
 */
export async function buildAttempt(
  manager: EntityManager,
  { registry, getFamily, getSignedType }: Pick<AuthoriserDependencies, 'registry' | 'getFamily' | 'getSignedType'>,
  { transfer, intent: wanted, signer, attempt, kind, reserved: { resources, prepared } }: Plan,
): Promise<BuiltAttempt> {
  const { txId } = transfer;
  const chain = registry.get(transfer.chain);
  const family = getFamily(chain.family);
  const intent = toAttemptIntent(wanted, kind);
  const built = await assemble(manager, { chain, family, signer }, { intent, kind, prepared, resources });
  const { unsigned, signers } = built;
  const described = family.describe(unsigned);
  assertSameResources(txId, described.resources, resources);
  assertWithinBound(txId, described, prepared);
  assertSameAction(txId, described, intent);
  assertIsShort(described);
  const type = getSignedType(transfer.transactionType);
  // a cancellation moves nothing
  if (kind !== 'cancellation') await assertAsStored(manager, type, transfer, { chain, intent, described });
  const messageKey = family.messageKey(unsigned, intent.from);
  const row = {
    txId,
    attempt,
    kind,
    chain: chain.name,
    prepared,
    unsigned,
    signers,
    messageKey,
    owner: signer.addressKey,
    described,
  };
  return { ...built, attempt, kind, prepared, store: () => insertAttempt(manager, row) };
}

/**
 * A stored attempt, built again: the order over it must not depend on rows that another process could have written.
 * @throws NotBegun for stored facts that the bytes contradict; Error when the stored bytes are not those that the transfer's own data
 * give, use up anything that it does not hold, or may cost more than their stated bound.
 */
export async function rebuildAttempt(
  manager: EntityManager,
  { registry, getFamily, getSignedType }: Pick<AuthoriserDependencies, 'registry' | 'getFamily' | 'getSignedType'>,
  transfer: TransactionEntity,
  { attempt, kind, prepared, unsigned }: Attempt,
): Promise<OrderableAttempt> {
  const { txId } = transfer;
  const chain = registry.get(transfer.chain);
  const family = getFamily(chain.family);
  const described = family.describe(unsigned);
  const { resources } = described;
  const held = (await findReservations(manager, txId)).map(({ resource }) => resource);
  const foreign = resources.filter((resource) => !held.includes(resource));
  const type = getSignedType(transfer.transactionType);
  const intent = toAttemptIntent(await type.loadIntent(manager, transfer), kind);
  assertWithinBound(txId, described, prepared);
  assertSameAction(txId, described, intent);
  if (kind !== 'cancellation') await assertAsStored(manager, type, transfer, { chain, intent, described });
  const signer = await type.findSigner(manager, transfer);
  const built = await assemble(manager, { chain, family, signer }, { intent, kind, prepared, resources });
  if (foreign.length > 0 || built.unsigned !== unsigned) throw new Error(`attempt ${attempt} of ${txId} is not what was begun`);
  return { attempt, kind, prepared, ...built };
}

/** The bytes that a transfer's own data give, and who signs them. */
async function assemble(
  manager: EntityManager,
  { chain, family, signer: { clientId } }: { chain: ChainDefinition; family: FamilyCodec; signer: AccountEntity },
  plan: Omit<TransactionPlan, 'chain'>,
): Promise<Pick<OrderableAttempt, 'intent' | 'unsigned' | 'signers' | 'clientId'>> {
  const { intent } = plan;
  const unsigned = family.build({ ...plan, chain });
  const payloads = family.signingPayloads(unsigned, intent.from);
  return { intent, unsigned, signers: await findSigners(manager, clientId, chain, payloads), clientId };
}

/** The nodes compare the bytes with the order alone. @throws NotBegun. */
async function assertAsStored(
  manager: EntityManager,
  type: SignedType,
  transfer: TransactionEntity,
  built: BuiltTransaction,
): Promise<void> {
  const field = await type.findDifference?.(manager, transfer, built);
  if (field) refuse('intent_mismatch', `${field}: the payment is stored with another one than it would be signed with`);
}

function assertWithinBound(txId: string, { maxNetworkFee }: TransactionDescription, { feeBound }: Prepared): void {
  if (maxNetworkFee > BigInt(feeBound))
    throw new Error(`the bytes for ${txId} may cost ${maxNetworkFee}, their bound is ${feeBound}`);
}

/** By a chain node whose time is ahead: until the bytes expire, nothing takes their place. @throws NotBegun. */
function assertIsShort({ action, expiresAt }: TransactionDescription): void {
  if (action !== 'payment' || expiresAt === undefined || expiresAt <= Date.now() / 1000 + longestPaymentSeconds) return;
  throw new NotBegun({ outcome: 'wait', reason: 'The transaction could be executed for too long' });
}

function assertSameAction(txId: string, described: TransactionDescription, intent: TransactionIntent): void {
  const wanted = intent.action?.type ?? 'payment';
  if (described.action !== wanted) throw new Error(`the bytes for ${txId} are a ${described.action} in place of a ${wanted}`);
}

function assertSameResources(txId: string, used: string[], reserved: string[]): void {
  if (used.length !== reserved.length || used.some((resource) => !reserved.includes(resource)))
    throw new Error(`the bytes for ${txId} use up ${used.join(', ')}, but ${reserved.join(', ')} is reserved`);
}
