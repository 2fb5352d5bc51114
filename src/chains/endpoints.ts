import { ConfigError } from '../platform/config';
import { GatewayError } from '../platform/errors';
import type { ChainDefinition } from './types';

/** Something that answers for one chain. */
export interface Endpoint {
  /** @throws ConfigError when it serves another chain; the failure of the call when it does not respond. */
  identify(): Promise<void>;
}

/**
 * The endpoints of one chain. Each piece of work runs against a single endpoint, so that conclusions from several responses rest on
 * one node's view; if the endpoint fails, the work is repeated from the beginning on the next one.
 */
export class EndpointList<E extends Endpoint> {
  private preferred = 0;

  /** `isAnswer`: whether an error is what the node says about the request, so that no other endpoint is tried. */
  constructor(
    private readonly chain: ChainDefinition,
    private readonly endpoints: readonly E[],
    private readonly isAnswer: (error: unknown) => boolean,
  ) {}

  /** How many there are. */
  get size(): number {
    return this.endpoints.length;
  }

  /** @throws GatewayError chain_unavailable when no endpoint could do the work; errors that are answers, and GatewayErrors of the work. */
  async run<T>(work: (endpoint: E) => Promise<T>): Promise<T> {
    const reasons: string[] = [];
    for (let step = 0; step < this.endpoints.length; step += 1) {
      const index = (this.preferred + step) % this.endpoints.length;
      const endpoint = this.endpoints[index] as E;
      try {
        await endpoint.identify();
        const result = await work(endpoint);
        this.preferred = index;
        return result;
      } catch (error) {
        if (error instanceof GatewayError || this.isAnswer(error)) throw error;
        reasons.push(`endpoint ${index + 1}: ${error instanceof Error ? error.message : 'failed'}`);
      }
    }
    throw unavailable(this.chain, 'no RPC endpoint responded', new Error(reasons.join('; ')));
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

  private askAll(says: (endpoint: E) => Promise<boolean>): Promise<PromiseSettledResult<boolean>[]> {
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
