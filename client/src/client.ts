import createClient from 'openapi-fetch';
import type { Call, Data, InitArgument, Method, Path } from './calls';
import type { components, paths } from './generated';
import { type Item, type ListInit, type ListPath, readList } from './lists';
import { defaultLimits, type RepeatLimits } from './repeat';
import type { Fetch } from './send';
import { Sender } from './sender';
import { type WaitOptions, waitUntil } from './until';

export type Schemas = components['schemas'];
export type Transaction = Awaited<ReturnType<GatewayClient['waitForTransfer']>>;
export type Wallet = Awaited<ReturnType<GatewayClient['waitForWallet']>>;

export interface ClientOptions {
  /** Such as `https://gateway.example.com/api/v1`. */
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
  limits?: Partial<RepeatLimits>;
  /** Replaces the global one, for a proxy or a certificate of your own. */
  fetch?: Fetch;
}

const ends: readonly string[] = ['CONFIRMED', 'FAILED', 'REJECTED', 'CANCELLED'];

/**
 * Client of the gateway's API: every path of its document, with its types. A request gets the access token, is repeated as far as that is safe
 * (docs/integration.md), and resolves with the body of the answer. All methods of requests throw ProblemError for a refusal, NoAnswerError
 * without an answer, and the reason of a signal that is given.
 */
export class GatewayClient {
  readonly get: Call<'get'>;
  readonly post: Call<'post'>;
  readonly put: Call<'put'>;
  readonly delete: Call<'delete'>;
  readonly #sender: Sender;

  /** @throws TypeError if an option cannot be used; its text has no secret */
  constructor({ baseUrl, apiKey, apiSecret, limits, fetch = globalThis.fetch }: ClientOptions) {
    const sender = new Sender({ baseUrl, apiKey, apiSecret, fetch, limits: { ...defaultLimits, ...limits } });
    this.#sender = sender;
    const http = createClient<paths>({ baseUrl });
    // the sender throws for all answers that have no data; a Request would hold its signal weakly
    const call = <M extends Method>(method: M) =>
      (async (path: never, { signal, ...init }: { signal?: AbortSignal } = {}) => {
        const send = (request: Request) => sender.send(request, signal);
        return (await (http.request as Untyped)(method, path, { ...init, fetch: send })).data;
      }) as Call<M>;
    this.get = call('get');
    this.post = call('post');
    this.put = call('put');
    this.delete = call('delete');
  }

  /**
   * Asks for a transfer, which is accepted then and not over: `waitForTransfer`.
   * @param idempotencyKey 1 to 255 printable ASCII characters, stored with your order before the call: after a crash or NoAnswerError the same
   *   transfer with the same key pays once
   * @throws TypeError for another key: without one, no repeat would be safe
   */
  async transfer(idempotencyKey: string, body: Schemas['CreateTransferRequest'], signal?: AbortSignal) {
    if (typeof idempotencyKey !== 'string' || !/^[ -~]{1,255}$/.test(idempotencyKey))
      throw new TypeError('idempotencyKey has to be 1 to 255 printable ASCII characters');
    return this.post('/transfer', { params: { header: { 'Idempotency-Key': idempotencyKey } }, body, ...(signal && { signal }) });
  }

  /**
   * The transaction once it is CONFIRMED, FAILED, REJECTED or CANCELLED. NEEDS_ATTENTION is no end: an operator of the gateway acts.
   * Not for deposits, which have other states: their webhooks tell, or `get`.
   * @throws WaitTimeoutError: it goes on, and can be waited for again
   */
  waitForTransfer(txId: string, options: WaitOptions<TransactionAnswer> = {}): Promise<TransactionAnswer> {
    const read = (signal: AbortSignal) => this.get('/transactions/{tx_id}', { params: { path: { tx_id: txId } }, signal });
    return waitUntil(`the end of transfer ${txId}`, read, ({ status }) => ends.includes(status), options);
  }

  /** The wallet once accounts can be made of it. @throws WaitTimeoutError */
  waitForWallet(walletId: string, options: WaitOptions<WalletAnswer> = {}): Promise<WalletAnswer> {
    const read = (signal: AbortSignal) => this.get('/wallets/{id}', { params: { path: { id: walletId } }, signal });
    const isActive = ({ status, key_status: key }: WalletAnswer) => status === 'ACTIVE' && key === 'ACTIVE';
    return waitUntil(`wallet ${walletId} to be active`, read, isActive, options);
  }

  /** The items of a list, one page after another, as they are needed. */
  list<P extends ListPath>(path: P, ...[init]: InitArgument<ListInit<P>>): AsyncGenerator<Item<P>, void, undefined> {
    const { params, ...rest } = (init ?? {}) as { params?: { query?: Record<string, unknown> } };
    const read = (query: Record<string, unknown>) =>
      (this.get as (path: Path<'get'>, init: unknown) => Promise<never>)(path, { ...rest, params: { ...params, query } });
    return readList(read, params?.query ?? {}) as AsyncGenerator<Item<P>, void, undefined>;
  }

  /** The access token in use, for requests that are made without this client. */
  accessToken(signal?: AbortSignal): Promise<string> {
    return this.#sender.token.get(signal);
  }
}

type TransactionAnswer = Answer<'/transactions/{tx_id}'>;
type WalletAnswer = Answer<'/wallets/{id}'>;
type Answer<P extends Path<'get'>> = Data<'get', P>;
type Untyped = (method: string, path: never, init: object) => Promise<{ data?: unknown }>;
