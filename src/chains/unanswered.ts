import { GatewayError } from '../platform/errors';
import { findAnswers, NotEstimated } from './endpoints';
import { LimitedRequests, NoAnswer } from './no-answer';
import type { ChainDefinition } from './types';

/**
 * Milliseconds for what a transaction would take, at one endpoint: several that hang have to be asked within the time of the step that asks
 * (20 s), or nobody is ever told.
 */
export const estimateMs = 5_000;

/**
 * What an endpoint does not answer that has answered everything else about the same transaction: it is not away, and that may go on for ever. Where
 * it limits requests that is waited for.
 * @throws NotEstimated in place of NoAnswer; what `ask` throws.
 */
export async function silenceAsNotEstimated<T>({ name }: ChainDefinition, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof NoAnswer && !(error instanceof LimitedRequests)
      ? new NotEstimated(toSilent(name, error.message))
      : error;
  }
}

/** The same of endpoints together. @throws GatewayError not_estimated in place of chain_unavailable; what `ask` throws. */
export async function unavailableAsNotEstimated<T>({ name }: ChainDefinition, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof GatewayError && error.code === 'chain_unavailable') || findAnswers(error)) throw error;
    if (error.cause instanceof LimitedRequests) throw error;
    throw new GatewayError('not_estimated', toSilent(name, error.cause instanceof Error ? error.cause.message : 'no answer'), {
      cause: error,
    });
  }
}

const toSilent = (name: string, reason: string): string =>
  `The endpoints of ${name} answer, and none says what this transaction takes: ${reason}`;
