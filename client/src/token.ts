import { ClientError } from './errors';
import { abortable } from './wait';

/** A token is renewed this long before it expires, or after half its time where that is less. */
const marginMs = 30_000;

interface Token {
  value: string;
  renewAtMs: number;
}

/** The access token that all requests share, and the one request that renews it. */
export class AccessToken {
  #current: Token | null = null;
  #renewal: Promise<Token> | null = null;

  /** @param request asks for a token, with limits of its own; resolves with JSON */
  constructor(private readonly request: () => Promise<Response>) {}

  /**
   * The token in use, or a new one when that is about to expire or is the one that was refused.
   * @throws what asking for it throws; the reason of the signal, which does not stop the renewal: others may wait for it
   */
  async get(signal?: AbortSignal, refused?: string): Promise<string> {
    const current = this.#current;
    if (current && current.value !== refused && performance.now() < current.renewAtMs) return current.value;
    this.#renewal ??= this.renew().finally(() => (this.#renewal = null));
    return (await abortable(this.#renewal, signal)).value;
  }

  private async renew(): Promise<Token> {
    const askedAtMs = performance.now();
    const answer = await this.request();
    const body = (await answer.json()) as { token?: unknown; expires_in?: unknown } | null;
    const { token, expires_in: seconds } = body ?? {};
    if (typeof token !== 'string' || !isHeaderValue(token) || typeof seconds !== 'number')
      throw new ClientError('the answer to POST /auth/token has no token');
    const lifeMs = seconds * 1_000;
    return (this.#current = { value: token, renewAtMs: askedAtMs + lifeMs - Math.min(marginMs, lifeMs / 2) });
  }
}

/** Anything else is refused by `Headers`, whose error shows the value. */
export const isHeaderValue = (value: string): boolean => /^[\x21-\x7e]+$/.test(value);
