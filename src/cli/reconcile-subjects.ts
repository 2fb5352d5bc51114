import type { DataSource, EntityManager } from 'typeorm';
import { audit, type AuditAction } from '../audit/log';
import { readUncovered } from '../ledger/posting';
import type { ClaimsOf, SigningClaims } from '../messages/order';
import type { MissingOrder, UnverifiedOrder } from '../orders/missing-orders';
import { storeShownOrder } from '../orders/store-order';
import { inTransaction } from '../platform/database';
import { ConfigError } from '../platform/config';
import { GatewayError } from '../platform/errors';
import { type CountUsed, findUsedOrdinals, recordUsedOrdinals, type UsedOrdinals } from '../transfers/rebuild/missing-ordinals';
import { type KnownOrder, NotCovered, type RebuildDependencies, rebuildTransfer } from '../transfers/rebuild/rebuild';
import { withReason } from './confirmation';
import { currentOperator } from './operator';

/** A transfer, or the key of a wallet, with the orders about it that the database lacks. */
export interface Subject {
  id: string;
  /** By number; at least one. */
  orders: MissingOrder[];
}

export interface Reconciled {
  /** Id of a transfer, of a key, or of an order that cannot be verified. */
  subject: string;
  orders: number;
  result: 'rebuilt' | 'recorded' | 'not rebuilt' | 'accepted as missing';
  /** Why it was not rebuilt, or what a key order means. */
  reason: string;
  /**
   * What it can be rebuilt after. `funds`: the account has too little until deposits are found again or other transfers have ended;
   * `unfreeze`: an operator has to examine the account. null: nothing is known to change it.
   */
  waitsFor: 'funds' | 'unfreeze' | null;
}

interface Options extends RebuildDependencies {
  database: DataSource;
  apply: boolean;
  acceptMissing: AcceptMissing;
  statedReason?: string | undefined;
  countUsed: CountUsed;
}

/** What an operator goes on without: these subjects; `stuck`: whatever waits for nothing. */
export type AcceptMissing = readonly string[] | 'stuck';

export const isAccepted = (accepted: AcceptMissing, { subject, waitsFor }: Pick<Reconciled, 'subject' | 'waitsFor'>): boolean =>
  accepted === 'stuck' ? waitsFor === null : accepted.includes(subject);

/** Thrown to take a database transaction back. */
class TakenBack extends Error {}

/** Rebuilds a transfer, or records the orders for a key, in one database transaction. */
export async function reconcileSubject({ apply, ...deps }: Options, { id, orders }: Subject): Promise<Reconciled> {
  const transfer = signingOrders(orders);
  const isTransfer = transfer.length === orders.length;
  const done = { subject: id, orders: orders.length, waitsFor: null };
  let note = '';
  const work = async (manager: EntityManager) => {
    if (isTransfer) await rebuildTransfer(manager, deps, transfer);
    else note = await recordKeyOrders(manager, orders);
    await record(manager, 'orders.rebuilt', { id, orders });
  };
  try {
    await inEither(deps.database, apply, work);
    return { ...done, result: isTransfer ? 'rebuilt' : 'recorded', reason: note };
  } catch (error) {
    const reason = getReason(error);
    if (reason === null) throw error;
    return { ...done, result: 'not rebuilt', reason, waitsFor: waitsFor(error) };
  }
}

/**
 * The operator goes on without it: its orders are stored, so that they are not missing any more, and what the chain has executed of them;
 * nothing else is. It stays missing while its chain cannot be asked.
 */
export async function acceptAsMissing(options: Options, subject: Subject, reason: string): Promise<Reconciled> {
  const { id, orders } = subject;
  let used: UsedOrdinals[];
  try {
    used = await findUsedOrdinals(options, signingOrders(orders));
  } catch (error) {
    const isUnasked = error instanceof ConfigError || (error instanceof GatewayError && error.code === 'chain_unavailable');
    if (!isUnasked) throw error;
    const refusal = `${reason}; not accepted as missing, since its chain cannot be asked: ${error.message}`;
    return { subject: id, orders: orders.length, result: 'not rebuilt', reason: refusal, waitsFor: null };
  }
  await inEither(options.database, options.apply, async (manager) => {
    for (const { claims } of orders) await storeShownOrder(manager, claims, null);
    await recordUsedOrdinals(manager, used);
    await record(manager, 'orders.accepted_as_missing', subject, { reason, ...withReason(options.statedReason) });
  });
  return { subject: id, orders: orders.length, result: 'accepted as missing', reason, waitsFor: null };
}

/** What no key of ORDER_KEYS opens: an order of a key that is not in it any more, or a lie of its node. */
export async function acceptUnverified(options: Options, order: UnverifiedOrder): Promise<Reconciled> {
  const { database, apply, acceptMissing, statedReason } = options;
  const nodes = order.nodes.join(' and ');
  // in a form of its own: the id is what a node claims, and may be that of a transfer
  const subject = `order:${order.jti ?? `node-${order.nodes.join('-')}`}`;
  const reason =
    `node ${nodes} shows it as an order, and no key in ORDER_KEYS has signed it for this deployment: ` +
    'add the keys that the authoriser had before; if it had no others, the node lies';
  const row = { subject, orders: 1, reason, waitsFor: null };
  if (!isAccepted(acceptMissing, row)) return { ...row, result: 'not rebuilt' };
  await inEither(database, apply, (manager) =>
    recordAct(
      manager,
      'orders.accepted_as_missing',
      { type: 'order', id: subject },
      { orders: 1, nodes, reason, ...withReason(statedReason) },
    ),
  );
  return { ...row, result: 'accepted as missing' };
}

const isSigning = (claims: MissingOrder['claims']): claims is SigningClaims => 'recipients' in claims;

const signingOrders = (orders: MissingOrder[]): KnownOrder[] =>
  orders.flatMap(({ claims, bytes }) => (isSigning(claims) ? [{ claims, bytes }] : []));

/** A dry run checks at its end what a commit would. */
async function inEither(database: DataSource, apply: boolean, work: (manager: EntityManager) => Promise<void>): Promise<void> {
  await inTransaction(database, async (manager) => {
    await work(manager);
    await manager.query('set constraints all immediate');
    if (!apply) throw new TakenBack();
  }).catch((error: unknown) => {
    if (!(error instanceof TakenBack)) throw error;
  });
}

function waitsFor(error: unknown): Reconciled['waitsFor'] {
  const uncovered = readUncovered(error);
  if (uncovered?.some(({ isFrozen }) => isFrozen)) return 'unfreeze';
  return uncovered || error instanceof NotCovered ? 'funds' : null;
}

/** Why something cannot be rebuilt; null for errors that say nothing about it. */
function getReason(error: unknown): string | null {
  if (error instanceof GatewayError && error.code === 'business_error') return error.message;
  const frozen = readUncovered(error)?.find(({ isFrozen }) => isFrozen);
  if (frozen) return `${frozen.symbol} is frozen for its account: examine why, then \`gateway asset unfreeze\``;
  if (readUncovered(error))
    return 'the account does not have what it held: repeat it when the deposits since the backup are found again and other transfers have ended';
  const { code, message } = ((error as { driverError?: unknown }).driverError ?? {}) as { code?: string; message?: string };
  // integrity constraints: another row has its reservation or its bytes
  return code?.startsWith('23') ? `it contradicts the database: ${message}` : null;
}

/** A key that was not bound has signed nothing but tests; a bound one is the key of a wallet or of an account, which has to be there with it. */
async function recordKeyOrders(manager: EntityManager, orders: MissingOrder[]): Promise<string> {
  let note = 'a key that was generated and not bound: no wallet and no account has it';
  for (const { claims } of orders) {
    if (claims.kind === 'bind_key') {
      note = await assertOwnerHasKey(manager, claims);
    }
    await storeShownOrder(manager, claims, null);
  }
  return note;
}

/** A wallet is not rebuilt: its name, its accounts and what the nodes have attested are in no order. */
async function assertOwnerHasKey(manager: EntityManager, claims: ClaimsOf<'bind_key'>): Promise<string> {
  const { wallet_id: wallet, client_id: client, key_id: key, account_id: account } = claims;
  if (account !== undefined) return noteOnAccount(manager, { account, wallet, client, key });
  const [found] = await manager.query<unknown[]>(
    'select 1 from wallets where wallet_id = $1 and client_id = $2 and key_id = $3',
    [wallet, client, key],
  );
  if (found) return 'its wallet has this key';
  throw new GatewayError(
    'business_error',
    `wallet ${wallet} of client ${client} is not in the database with this key, and cannot be rebuilt from orders: deposits to its ` +
      'addresses are not seen. Ask the client whether it has used the wallet; insert its rows from a later copy, or accept it as missing',
  );
}

/** The request may have got no answer, and then its account was never there: the key is not used. */
async function noteOnAccount(
  manager: EntityManager,
  { account, wallet, client, key }: Record<'account' | 'wallet' | 'client' | 'key', string>,
): Promise<string> {
  const [found] = await manager.query<unknown[]>(
    'select 1 from accounts where account_id = $1 and wallet_id = $2 and client_id = $3 and key_id = $4',
    [account, wallet, client, key],
  );
  if (found) return 'its account has this key';
  throw new GatewayError(
    'business_error',
    `account ${account} of client ${client} is not in the database with this key, and cannot be rebuilt from orders: if the client was ` +
      'told its address, deposits to it are not seen. Ask the client; insert its rows from a later copy, or accept it as missing',
  );
}

type Act = Extract<AuditAction, 'orders.rebuilt' | 'orders.accepted_as_missing'>;

function record(manager: EntityManager, action: Act, { id, orders }: Subject, detail: { reason?: string } = {}): Promise<void> {
  const [first] = orders;
  const type = first && isSigning(first.claims) ? 'transaction' : 'key';
  return recordAct(manager, action, { type, id }, { orders: orders.length, first: first?.claims.seq ?? null, ...detail });
}

function recordAct(
  manager: EntityManager,
  action: Act,
  subject: { type: string; id: string },
  detail: Record<string, string | number | null>,
): Promise<void> {
  return audit(manager, { action, outcome: 'success', actor: currentOperator(), clientId: null, subject, detail });
}
