import type { EntityManager } from 'typeorm';
import type { FeeLevels } from '../../chains/types';
import { firstCause } from '../../platform/all-in-order';
import { GatewayError } from '../../platform/errors';
import type { TransactionEntity } from '../../transactions/entity';
import type { AcceptedKind } from './accepted-kind';
import { findEarlier } from './earlier';
import { findRedone } from './redone';
import type { ParsedTransfer, TransferParser } from './request';
import { findSourceRow, type SourceRow } from './source';

/** What is read before anything is written. Each is looked at with `need` where it decides, so that the first reason to refuse is the one told. */
export interface Facts {
  /** The transfer that an earlier request has made. */
  earlier: PromiseSettledResult<TransactionEntity | null>;
  source: PromiseSettledResult<SourceRow | undefined>;
  levels: PromiseSettledResult<FeeLevels | undefined>;
  /** The transfer that it is made in place of. */
  retryOf: PromiseSettledResult<string | null>;
}

/** Sends the statements together. @throws what the database has refused: the transaction is over then. */
export async function readFacts(
  deps: Pick<TransferParser, 'getFamily'>,
  manager: EntityManager,
  parsed: ParsedTransfer,
  kind: AcceptedKind,
): Promise<Facts> {
  const results = await Promise.allSettled([
    parsed.request.idempotencyKey === null ? null : findEarlier(deps, manager, parsed, kind),
    findSourceRow(manager, parsed),
    kind.readLevels?.(manager, parsed.chain),
    parsed.request.retryOf ?? findRedone(manager, deps, parsed, kind),
  ]);
  if (results.some((result) => result.status === 'rejected' && !(result.reason instanceof GatewayError)))
    throw firstCause(results);
  const [earlier, source, levels, retryOf] = results;
  return { earlier, source, levels, retryOf };
}

export function need<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}
