import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from 'typeorm';
import type { AuthorisationAction, Hex, JsonObject } from '../../chains/types';
import type { FailureCode } from '../../platform/codes';
import { GatewayError } from '../../platform/errors';
import { isUuid } from '../../platform/ids';
import type { TransactionEntity, TransactionStatus } from '../../transactions/entity';
import { presentFailure } from '../../transactions/presenter';
import type { BuiltTransaction, RebuiltTransaction } from '../../transactions/signed-type';
import type { ParsedPayment } from './request';
import { maxSeconds } from './window';

type Stored = Pick<ParsedPayment, 'version' | 'action' | 'requirements' | 'resource' | 'extensions'>;

const toText = (kept: JsonObject | null): string | null => kept && JSON.stringify(kept);

export async function storeAuthorisation(
  manager: EntityManager,
  txId: string,
  { version, action, requirements, resource, extensions }: Stored,
): Promise<void> {
  await manager.query(
    `insert into x402_authorisations (tx_id, version, action, requirements, resource, extensions)
     values ($1, $2, $3, $4, $5, $6)`,
    [txId, version, JSON.stringify(action), toText(requirements), toText(resource), toText(extensions)],
  );
}

/**
 * The same from its bytes, after the database was restored: what the resource server has asked for is in no order, and nothing can be
 * repeated to it.
 * @throws GatewayError business_error for bytes that are no authorisation.
 */
export async function rebuildAuthorisation(
  manager: EntityManager,
  { txId }: Pick<TransactionEntity, 'txId'>,
  { described: { authorisation } }: RebuiltTransaction,
): Promise<void> {
  if (!authorisation) throw new GatewayError('business_error', 'its bytes authorise nothing');
  const { action } = authorisation;
  await storeAuthorisation(manager, txId, { version: 2, action, requirements: {}, resource: null, extensions: null });
}

/** Whether the stored payment is asked for again, as far as it is known; each request would have a nonce of its own. */
export async function isSameAuthorisation(
  manager: EntityManager,
  txId: string,
  { version, requirements, resource, extensions }: Stored,
): Promise<boolean> {
  const rows = await manager.query<unknown[]>(
    `select from x402_authorisations
      where tx_id = $1 and (requirements = '{}'
        or (version, requirements, resource, extensions) is not distinct from ($2::smallint, $3::text, $4::text, $5::text))`,
    [txId, version, toText(requirements), toText(resource), toText(extensions)],
  );
  return rows.length > 0;
}

export async function loadAction(manager: EntityManager, txId: string): Promise<AuthorisationAction> {
  const [row] = await manager.query<{ action: AuthorisationAction }[]>(
    'select action from x402_authorisations where tx_id = $1',
    [txId],
  );
  if (!row) throw new Error(`transaction ${txId} does not say what it authorises`);
  return row.action;
}

/** Milliseconds, by the clock of the database, until it can no longer be carried out; null: it is not begun. */
export async function authorisationTimeLeft(manager: EntityManager, txId: string): Promise<number | null> {
  const [row] = await manager.query<{ left: number }[]>(
    `select floor(((expiry ->> 'valid_before')::numeric - extract(epoch from clock_timestamp())) * 1000)::float8 as left
       from transfer_attempts where tx_id = $1 and attempt = 1`,
    [txId],
  );
  return row?.left ?? null;
}

/** Clocks of the worker, which names the times, and of the database. */
const clockSeconds = 60;

/**
 * The worker names the times of a payment: it must not be open for longer than was asked for.
 * @returns name of the first field that is not as it is stored; null: none
 */
export async function findDifference(
  manager: EntityManager,
  { txId }: TransactionEntity,
  { intent: { action }, described: { authorisation, expiresAt = Infinity } }: BuiltTransaction,
): Promise<string | null> {
  if (action?.type !== 'authorisation' || action.seconds > maxSeconds + clockSeconds) return 'action';
  const [row] = await manager.query<{ now: number }[]>('select extract(epoch from clock_timestamp())::float8 as now');
  if (!row) throw new Error(`transaction ${txId} does not say what it authorises`);
  const compared: Record<string, boolean> = {
    method: authorisation?.method === action.method,
    facilitator: isDeepStrictEqual(authorisation?.facilitator, action.facilitator),
    allowance: !authorisation?.action.withAllowance || action.withAllowance,
    window_end: expiresAt <= row.now + action.seconds + clockSeconds,
  };
  return Object.keys(compared).find((field) => !compared[field]) ?? null;
}

/** A payment as far as the answer to its client depends on it. */
export interface AuthorisedPayment extends Omit<Stored, 'action'> {
  txId: string;
  chain: string;
  status: TransactionStatus;
  failure: { code: FailureCode; message: string } | null;
  isEnded: boolean;
  /** Bytes and signatures, once the client may have them. */
  signed: { unsigned: Hex; signed: Hex } | null;
}

interface Row {
  chain: string;
  status: TransactionStatus;
  failure_code: FailureCode | null;
  failure_message: string | null;
  is_ended: boolean;
  version: 1 | 2;
  requirements: string;
  resource: string | null;
  extensions: string | null;
  unsigned: Hex | null;
  signed: Hex | null;
}

/** null: the client has no such payment. Of one that is abandoned nothing is handed out any more. */
export async function findAuthorised(manager: EntityManager, clientId: string, txId: string): Promise<AuthorisedPayment | null> {
  if (!isUuid(txId)) return null;
  const [row] = await manager.query<Row[]>(
    `select t.chain, t.status, t.failure_code, t.failure_message, t.ended_at is not null as is_ended,
            x.version, x.requirements, x.resource, x.extensions, a.unsigned, a.signed
       from x402_authorisations x join transactions t using (tx_id)
       left join transfer_attempts a on a.tx_id = t.tx_id and a.attempt = 1 and a.broadcast_at is not null
        and t.status <> 'SIGNING' and t.cancellation_reason is null
      where t.client_id = $1 and t.tx_id = $2`,
    [clientId, txId],
  );
  if (!row) return null;
  const read = (text: string | null) => (text === null ? null : (JSON.parse(text) as JsonObject));
  const { unsigned, signed } = row;
  return {
    ...{ txId, chain: row.chain, status: row.status, isEnded: row.is_ended, version: row.version },
    requirements: JSON.parse(row.requirements) as JsonObject,
    resource: read(row.resource),
    extensions: read(row.extensions),
    failure: presentFailure({ status: row.status, failureCode: row.failure_code, failureMessage: row.failure_message }),
    signed: unsigned !== null && signed !== null ? { unsigned, signed } : null,
  };
}
