import { QueryFailedError } from 'typeorm';

/** Postgres: an earlier statement of the transaction has failed. */
const inFailedTransaction = '25P02';

/**
 * Waits for all of `promises`, like Promise.all, but throws the rejection that is first in the array, not the first in time: which of
 * several errors is reported does not depend on timing, and nothing is still running when it returns. Of the statements of a database
 * transaction it throws the one that failed, not one that failed in consequence.
 */
export async function allInOrder<T extends readonly unknown[] | []>(
  promises: T,
): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
  const results = await Promise.allSettled(promises);
  if (results.some(({ status }) => status === 'rejected')) throw firstCause(results);
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as {
    -readonly [I in keyof T]: Awaited<T[I]>;
  };
}

/** Why some of these were rejected: the first reason that is no consequence of another. */
export function firstCause(results: readonly PromiseSettledResult<unknown>[]): unknown {
  const rejected = results.filter((result) => result.status === 'rejected');
  return (rejected.find(({ reason }) => !isConsequence(reason)) ?? rejected[0])?.reason;
}

const isConsequence = (reason: unknown): boolean =>
  reason instanceof QueryFailedError && (reason.driverError as { code?: string }).code === inFailedTransaction;
