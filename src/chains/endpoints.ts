import { setTimeout as delay } from 'node:timers/promises';
import type { AlertName } from '../platform/alert-names';
import { ConfigError } from '../platform/config';
import { GatewayError } from '../platform/errors';
import { LimitedRequests, NoAnswer } from './no-answer';
import type { ChainDefinition } from './types';

/** Something that answers for one chain. */
export interface Endpoint {
  /** Host and port of its url: no path and no key. */
  readonly host: string;
  /** @throws ConfigError when it serves another chain; the failure of the call when it does not respond. */
  identify(): Promise<void>;
}

/** Why an endpoint cannot be used for something, although it answers; an alarm where it is so of every one. */
type EndpointAlert = Extract<AlertName, 'fees_not_believed' | 'traces_missing'>;

/** Another endpoint is asked. The message names neither endpoint nor key. */
export class EndpointFault extends Error {
  override readonly name = 'EndpointFault';

  constructor(
    readonly alert: EndpointAlert,
    message: string,
  ) {
    super(message);
  }
}

/**
 * An endpoint answers, and refuses to say what a transaction would take, or shows nothing to pay it with: another one may not share that. The
 * message is shown to operators, and is the endpoint's own in no part.
 */
export class NotEstimated extends Error {}

/** Endpoints have answered, and none with what it was asked for. */
class Unusable extends Error {
  constructor(
    message: string,
    /** What they have answered, for operators. */
    readonly words: string,
    /** Every one has answered. */
    readonly isOfAll: boolean,
  ) {
    super(message);
  }
}

/** What endpoints have answered where none could do the work; null: none has answered, or the error is of another kind. */
export const findAnswers = (error: unknown): Pick<Unusable, 'words' | 'isOfAll'> | null =>
  error instanceof GatewayError && error.cause instanceof Unusable ? error.cause : null;

/** What is wrong with every endpoint that has answered; null for an error of another kind. */
export const findFault = (error: unknown): EndpointFault | null =>
  error instanceof GatewayError && error.cause instanceof EndpointFault ? error.cause : null;

/** What the endpoints of a chain say about one thing; those that say nothing, or do not answer, are in neither number. */
export interface Comparison {
  same: number;
  different: number;
}

/** How many endpoints show this block at its height. */
export type CompareBlock = (number: number, hash: string) => Promise<Comparison>;

/** How long the answers of further endpoints are waited for. */
const furtherMs = 1_000;

/**
 * The endpoints of one chain. Each piece of work runs against a single endpoint, so that conclusions from several responses rest on
 * one node's view; if the endpoint fails, the work is repeated from the beginning on the next one.
 */
export class EndpointList<E extends Endpoint> {
  private preferred = 0;

  constructor(
    private readonly chain: ChainDefinition,
    private readonly endpoints: readonly E[],
  ) {}

  /** Host and port of the endpoint that is asked first, as things are. */
  get host(): string {
    return this.endpoints[this.preferred]?.host ?? '';
  }

  /** How many there are. */
  get size(): number {
    return this.endpoints.length;
  }

  /**
   * What a node refuses another one may know: any error of the work but a GatewayError has the next endpoint asked. The one that could do it is
   * asked first from then on, where `isPreferable` does not say otherwise.
   * @throws GatewayError chain_unavailable when no endpoint could do the work, with an EndpointFault as its cause where one could not be
   * used; not_estimated where the work has thrown NotEstimated; GatewayErrors of the work.
   */
  async run<T>(work: (endpoint: E) => Promise<T>, isPreferable = () => true): Promise<T> {
    const failures: Failure[] = [];
    for (let step = 0; step < this.endpoints.length; step += 1) {
      const index = (this.preferred + step) % this.endpoints.length;
      const endpoint = this.endpoints[index] as E;
      let isIdentified = false;
      try {
        await endpoint.identify();
        isIdentified = true;
        const result = await work(endpoint);
        // the first one stays preferred by itself, unless a comparison has found meanwhile that it is the odd one out
        if (step > 0 && isPreferable()) this.preferred = index;
        return result;
      } catch (error) {
        if (error instanceof GatewayError) throw error;
        failures.push({ position: index + 1, error, hasAnswered: isIdentified && !(error instanceof NoAnswer) });
      }
    }
    throw toError(this.chain, failures);
  }

  /**
   * Asks every endpoint at once. null: it has no answer yet. Where the answer that is expected is that of one endpoint at most, and two others
   * agree on another one, one of these is preferred from now on.
   */
  async compare(ask: (endpoint: E) => Promise<string | null>, expected: string): Promise<Comparison> {
    const answers = await this.askAll(ask);
    const said = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : null));
    const countOf = (answer: string) => said.filter((other) => other === answer).length;
    const same = countOf(expected);
    const majority = said.findIndex((answer) => answer !== null && answer !== expected && countOf(answer) >= 2);
    if (same < 2 && majority >= 0) this.preferred = majority;
    return { same, different: said.filter((answer) => answer !== null).length - same };
  }

  /** `compare` of a block's hash, which `ask` reads; undefined with one endpoint: there is nothing to compare. */
  blockComparison(ask: (endpoint: E, number: number) => Promise<string | null>): CompareBlock | undefined {
    if (this.size === 1) return undefined;
    return (number, hash) => this.compare((endpoint) => ask(endpoint, number), hash);
  }

  /** The answer of one endpoint, as of `run`, and those that the others give within a second. */
  async runAtAll<T>(work: (endpoint: E) => Promise<T>): Promise<[T, ...T[]]> {
    if (this.size === 1) return [await this.run(work)];
    const further: T[] = [];
    const all = this.askAll(async (endpoint) => void further.push(await work(endpoint)));
    const first = await this.run(work);
    await Promise.race([all, delay(furtherMs, undefined, { ref: false })]);
    return [first, ...further];
  }

  /** Whether any endpoint says so; those that do not answer say nothing. */
  async some(says: (endpoint: E) => Promise<boolean>): Promise<boolean> {
    const answers = await this.askAll(says);
    return answers.some((answer) => answer.status === 'fulfilled' && answer.value);
  }

  /** Whether every endpoint says so; one that does not answer has not said it. */
  async every(says: (endpoint: E) => Promise<boolean>): Promise<boolean> {
    const answers = await this.askAll(says);
    return answers.every((answer) => answer.status === 'fulfilled' && answer.value);
  }

  /** What every endpoint says; null of one that does not answer. */
  async each<T>(work: (endpoint: E) => Promise<T>): Promise<(T | null)[]> {
    const answers = await this.askAll(work);
    return answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : null));
  }

  private askAll<T>(says: (endpoint: E) => Promise<T>): Promise<PromiseSettledResult<T>[]> {
    return Promise.allSettled(
      this.endpoints.map(async (endpoint) => {
        await endpoint.identify();
        return says(endpoint);
      }),
    );
  }

  /**
   * @throws ConfigError for the first endpoint that serves another chain; one that does not respond is checked before its first
   * use.
   */
  async verify(): Promise<void> {
    const results = await Promise.allSettled(this.endpoints.map((endpoint) => endpoint.identify()));
    for (const result of results) {
      if (result.status === 'rejected' && result.reason instanceof ConfigError) throw result.reason;
    }
  }
}

interface Failure {
  /** Of the endpoint in the configuration, from 1. */
  position: number;
  error: unknown;
  hasAnswered: boolean;
}

function toError(chain: ChainDefinition, failures: Failure[]): GatewayError {
  const errors = failures.map(({ error }) => error);
  const refusal = errors.find((error) => error instanceof NotEstimated);
  const fault = errors.find((error) => error instanceof EndpointFault);
  if (refusal) {
    const both = fault ? `${refusal.message}; of another endpoint ${fault.message}` : refusal.message;
    return new GatewayError('not_estimated', both, { cause: refusal });
  }
  if (fault) return unavailable(chain, fault.message, fault);
  const answers = failures.filter(({ hasAnswered }) => hasAnswered).map(({ error }) => error);
  const words = toWords(answers);
  if (answers.length === failures.length)
    return unavailable(chain, 'no RPC endpoint gives a usable answer', new Unusable(words, words, true));
  const reasons = failures.map(
    ({ position, error }) => `endpoint ${position}: ${error instanceof Error ? error.message : 'failed'}`,
  );
  const reason = reasons.join('; ');
  const isLimited = errors.some((error) => error instanceof LimitedRequests);
  const silent = isLimited ? new LimitedRequests(reason) : new Error(reason);
  const cause = answers.length > 0 ? new Unusable(reason, words, false) : silent;
  return unavailable(chain, 'no RPC endpoint responded', cause);
}

/** Each once. What a library has thrown about an answer may repeat a part of it. */
function toWords(errors: unknown[]): string {
  const words = errors.map((error) =>
    error instanceof Error && ['Error', 'NodeRefusal'].includes(error.name) ? error.message : 'the answer cannot be read',
  );
  return [...new Set(words)].join('; ');
}

/**
 * What an attempt is to be made of. Where no endpoint answers that is waited for; where one has answered, and none with what is needed, that may
 * go on for ever, and somebody has to be told.
 * @throws GatewayError not_estimated in place of chain_unavailable where an endpoint has answered; what `prepare` throws.
 */
export async function orNotEstimated<T>({ name }: ChainDefinition, prepare: () => Promise<T>): Promise<T> {
  try {
    return await prepare();
  } catch (error) {
    const answers = findAnswers(error);
    if (!answers) throw error;
    const who = answers.isOfAll ? `The endpoints of ${name} answer` : `Of the endpoints of ${name} some do not answer`;
    const reason = `${who}, and none says what this transaction takes: ${answers.words}`;
    throw new GatewayError('not_estimated', reason, { cause: error });
  }
}

/** Remembers a check that succeeded; one that failed is made again at the next call. */
export function once(check: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () =>
    (done ??= check().catch((error: unknown) => {
      done = undefined;
      throw error;
    }));
}

export function unavailable(chain: ChainDefinition, what: string, cause?: Error): GatewayError {
  return new GatewayError('chain_unavailable', `${chain.name}: ${what}`, cause ? { cause } : {});
}
