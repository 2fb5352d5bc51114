import { repeat, type RepeatLimits } from './repeat';
import { type Fetch, nameOf, type Outgoing, sendOnce, toOutgoing } from './send';
import { AccessToken, isHeaderValue } from './token';

interface SenderOptions {
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
  fetch: Fetch;
  limits: RepeatLimits;
}

/** Sends requests with the access token, and repeats them as far as that is safe. */
export class Sender {
  readonly token: AccessToken;
  readonly #fetch: Fetch;
  readonly #limits: RepeatLimits;

  /** @throws TypeError, without a secret in it */
  constructor({ baseUrl, apiKey, apiSecret, fetch, limits }: SenderOptions) {
    if (!isWebUrl(baseUrl)) throw new TypeError('baseUrl has to be an http or https URL without credentials, query and fragment');
    for (const [name, value] of Object.entries({ apiKey, apiSecret }))
      if (!isHeaderValue(value)) throw new TypeError(`${name} has to be printable ASCII without spaces`);
    for (const [name, value] of Object.entries(limits))
      if (!(Number.isFinite(value) && value >= 0)) throw new TypeError(`limits.${name} has to be a number from 0 on`);
    this.#fetch = fetch;
    this.#limits = limits;
    const url = `${baseUrl.replace(/\/+$/, '')}/auth/token`;
    this.token = new AccessToken(() => this.requestToken(url, { 'X-API-Key': apiKey, 'X-API-Secret': apiSecret }));
  }

  /** @throws ProblemError for an answer that is no success; NoAnswerError without one; the reason of the signal */
  async send(request: Request, signal?: AbortSignal): Promise<Response> {
    const outgoing = await toOutgoing(request);
    const safe = outgoing.method === 'GET' || outgoing.headers.has('idempotency-key');
    let renewed = false;
    return repeat(
      async (timeoutMs) => {
        const endsAt = performance.now() + timeoutMs;
        const attempt = (token: string) => {
          outgoing.headers.set('authorization', `Bearer ${token}`);
          return sendOnce(this.#fetch, outgoing, {
            timeoutMs: Math.max(1, endsAt - performance.now()),
            ...(signal && { signal }),
          });
        };
        const token = await this.token.get(signal);
        const answer = await attempt(token);
        if (answer.status !== 401 || renewed) return answer;
        renewed = true;
        return attempt(await this.token.get(signal, token));
      },
      { request: nameOf(outgoing), safe, limits: this.#limits, ...(signal && { signal }) },
    );
  }

  private requestToken(url: string, credentials: Record<string, string>): Promise<Response> {
    const outgoing: Outgoing = { method: 'POST', url, headers: new Headers(credentials), body: null };
    // a token that nobody has got does no harm
    return repeat((timeoutMs) => sendOnce(this.#fetch, outgoing, { timeoutMs }), {
      ...{ request: nameOf(outgoing), safe: true, limits: this.#limits },
    });
  }
}

function isWebUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}
