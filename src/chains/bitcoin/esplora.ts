import { ConfigError } from '../../platform/config';
import { rpcUrlsVariable } from '../config';
import { once } from '../endpoints';
import { NoAnswer } from '../no-answer';
import { type ObserveCall, observeCalls } from '../observed-calls';
import { type Offered, toTrouble, unlessKnown } from '../offer';
import type { ChainDefinition, Hex } from '../types';
import { assertTaken, readHash, readHashes, readHeader, readHeight, readObject } from './answers';
import { type BitcoinBackend, feeTarget, type FoundTransaction } from './backend';
import { refusalCodes, toRefusal } from './broadcast';
import { blockMs, type HttpRequest, type HttpResponse, request } from './http';
import { NodeRefusal } from './rpc';

/** The HTTP interface of Esplora (github.com/Blockstream/esplora, API.md), which block explorers offer too. */
export class EsploraServer implements BitcoinBackend {
  readonly host: string;
  private readonly base: string;
  private readonly observe: ObserveCall;

  /** `position`: of its url in the configuration, from 1. @throws ConfigError for a url with a user or a password. */
  constructor(
    private readonly chain: ChainDefinition,
    url: string,
    private readonly position: number,
  ) {
    const base = new URL(url);
    const where = `${rpcUrlsVariable(chain.name)} entry ${position}`;
    if (base.username || base.password)
      throw new ConfigError(`${where} has a user or a password: Esplora is asked without them, so the url must not have any`);
    base.hash = '';
    this.host = base.host;
    this.observe = observeCalls({ chain: chain.name, url, isRefusal: () => false });
    this.base = base.toString().replace(/\/$/, '');
  }

  readonly identify = once(async () => {
    const { name, network, genesisHash } = this.chain;
    if ((await this.blockHash(0)) === genesisHash) return;
    const where = `${rpcUrlsVariable(name)} entry ${this.position}`;
    throw new ConfigError(`${where} serves a chain with another genesis block than ${name} (${network})`);
  });

  async height(): Promise<number> {
    return readHeight(parse(await this.get('/blocks/tip/height')));
  }

  async blockHash(height: number): Promise<string | null> {
    const hash = await this.find(`/block-height/${height}`);
    return hash && readHash(hash.toString().trim());
  }

  block(hash: string): Promise<Buffer> {
    return this.get(`/block/${hash}/raw`, { timeoutMs: blockMs });
  }

  async header(hash: string): Promise<{ height: number; parentHash: string | null }> {
    return readHeader(parse(await this.get(`/block/${hash}`)));
  }

  async findTransaction(id: string): Promise<FoundTransaction | null> {
    const found = await this.find(`/tx/${id}/status`);
    // some servers answer for ids that they do not know as for transactions in the pool
    if (!found || (await this.find(`/tx/${id}/raw`)) === null) return null;
    const { confirmed, block_height: height, block_hash: block } = readObject(parse(found));
    if (typeof confirmed !== 'boolean') throw new Error('the answer has no status');
    if (!confirmed) return { id, block: null };
    const [number, hash] = [readHeight(height), readHash(block)];
    return (await this.blockHash(number)) === hash ? { id, block: { number, hash } } : null;
  }

  async isUnspent(id: string, vout: number): Promise<boolean> {
    if (!(await this.findTransaction(id))?.block) return false;
    const { spent, status } = readObject(parse(await this.get(`/tx/${id}/outspend/${vout}`)));
    if (typeof spent !== 'boolean') throw new Error('the answer does not say whether it is spent');
    return !spent || readObject(status).confirmed !== true;
  }

  transaction(id: string): Promise<Buffer> {
    return this.get(`/tx/${id}/raw`);
  }

  async pool(): Promise<string[]> {
    return readHashes(parse(await this.get('/mempool/txids', { timeoutMs: blockMs })));
  }

  poolTransaction(id: string): Promise<Buffer | null> {
    return this.find(`/tx/${id}/raw`);
  }

  /** Refusals are HTTP 400 with the error of the node behind it. */
  async send(bytes: Hex, id: string): Promise<Offered> {
    const response = await this.request({ method: 'POST', path: '/tx', body: bytes.slice(2) });
    if (response.status === 200) {
      assertTaken(response.body.toString().trim(), id);
      return { outcome: 'accepted' };
    }
    const refusal = readRefusal(response);
    if (!refusal || (response.status !== refused && !refusalCodes.has(refusal.code))) throw failure(response);
    if (!refusalCodes.has(refusal.code)) return toTrouble(refusal.code, refusal.nodeMessage);
    return unlessKnown(toRefusal(refusal), async () => (await this.findTransaction(id)) !== null);
  }

  /** Of an object with the rate for each number of blocks. */
  async feeRate(): Promise<bigint | null> {
    const rate = readObject(parse(await this.get('/fee-estimates')))[String(feeTarget)];
    return typeof rate === 'number' && rate > 0 ? BigInt(Math.ceil(rate)) : null;
  }

  private async get(path: string, options: Pick<HttpRequest, 'timeoutMs'> = {}): Promise<Buffer> {
    const response = await this.request({ method: 'GET', path, ...options });
    if (response.status !== 200) throw failure(response);
    return response.body;
  }

  /** null: there is none. */
  private async find(path: string): Promise<Buffer | null> {
    const response = await this.request({ method: 'GET', path });
    if (response.status === 404) return null;
    if (response.status !== 200) throw failure(response);
    return response.body;
  }

  private request({ path, ...options }: Omit<HttpRequest, 'url'> & { path: string }): Promise<HttpResponse> {
    return this.observe(`${options.method} ${withoutIds(path)}`, () => request({ ...options, url: this.base + path }));
  }
}

/** HTTP status of what the node behind it has refused. */
const refused = 400;

/** As in /tx/:id/raw. */
const withoutIds = (path: string): string => path.replace(/\/([0-9a-f]{64}|\d+)(?=\/|$)/gi, '/:id');

const failure = ({ status }: HttpResponse): Error => new NoAnswer(`HTTP ${status}`);
const parse = (body: Buffer): unknown => JSON.parse(body.toString());

/** As in `sendrawtransaction RPC error: {"code":-26,"message":"dust"}`; null for anything else. */
function readRefusal({ body }: HttpResponse): NodeRefusal | null {
  const [, json] = /(\{.*\})/s.exec(body.subarray(0, 2_000).toString()) ?? [];
  try {
    const { code, message } = JSON.parse(json ?? '') as { code?: unknown; message?: unknown };
    return typeof code === 'number' && typeof message === 'string' ? new NodeRefusal(code, message) : null;
  } catch {
    return null;
  }
}
