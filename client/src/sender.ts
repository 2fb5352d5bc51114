import { repeat, type RepeatLimits } from './repeat';
import { type Fetch, nameOf, type Outgoing, sendOnce, toOutgoing } from './send';
import { AccessToken, isHeaderValue } from './token';
import { isTimer, longestTimerMs } from './wait';

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
      if (!isTimer(value, 0)) throw new TypeError(`limits.${name} has to be a number from 0 to ${longestTimerMs}`);
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
    // what this takes has limits of its own, and is not taken from the request's
    let first: string | null = await this.token.get(signal);
    return repeat(
      async (timeoutMs) => {
        let leftMs = timeoutMs;
        const attempt = async (token: string) => {
          outgoing.headers.set('authorization', `Bearer ${token}`);
          const beganMs = performance.now();
          const answer = await sendOnce(this.#fetch, outgoing, { timeoutMs: Math.max(1, leftMs), ...(signal && { signal }) });
          leftMs -= performance.now() - beganMs;
          return answer;
        };
        const token = first ?? (await this.token.get(signal));
        first = null;
        const answer = await attempt(token);
        if (answer.status !== 401 || renewed) return answer;
        renewed = true;
        return attempt(await this.token.get(signal, token));
      },
      { request: nameOf(outgoing), safe, hasCode: hasCode(outgoing), limits: this.#limits, ...(signal && { signal }) },
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

/** In JSON, text within a value would have its quotation marks escaped. */
const hasCode = ({ body }: Outgoing): boolean => body !== null && Buffer.from(body).includes('"mfa_code"');

function isWebUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}
