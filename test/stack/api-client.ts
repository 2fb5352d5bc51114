import type { DevClient } from '../../dev/clients';

export interface Answer<T = unknown> {
  status: number;
  headers: Headers;
  body: T;
}

export interface RequestOptions {
  body?: unknown;
  headers?: Record<string, string>;
}

/** Settlements are waited for up to 70 s; official clients give up after 90. */
const requestTimeoutMs = 90_000;
/** A new token is requested this long before the current one expires. */
const tokenMarginMs = 30_000;

/** Client of the gateway's REST API for tests: repeats nothing, and returns responses of any status to requests of any shape. */
export class ApiClient {
  private token: { value: string; renewAtMs: number } | null = null;

  constructor(
    readonly baseUrl: string,
    readonly credentials: Pick<DevClient, 'api_key' | 'api_secret'>,
  ) {}

  async request<T = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    const authorization = `Bearer ${await this.accessToken()}`;
    return send<T>(method, `${this.baseUrl}${path}`, { ...options, headers: { authorization, ...options.headers } });
  }

  /** The next request gets a new token. */
  forgetToken(): void {
    this.token = null;
  }

  /** @throws Error with the response of the API when it refuses. */
  async accessToken(): Promise<string> {
    if (this.token && Date.now() < this.token.renewAtMs) return this.token.value;
    const { api_key, api_secret } = this.credentials;
    const answer = await send<{ token: string; expires_in: number }>('POST', `${this.baseUrl}/auth/token`, {
      headers: { 'x-api-key': api_key, 'x-api-secret': api_secret },
    });
    if (answer.status !== 200) throw new Error(`POST /auth/token answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    this.token = { value: answer.body.token, renewAtMs: Date.now() + answer.body.expires_in * 1000 - tokenMarginMs };
    return this.token.value;
  }
}

/** One request without authentication. A body that is not JSON is returned as text. */
export async function send<T = unknown>(method: string, url: string, { body, headers }: RequestOptions = {}): Promise<Answer<T>> {
  const response = await fetch(url, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(requestTimeoutMs),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parse(text) as T };
}

function parse(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return text;
  }
}
