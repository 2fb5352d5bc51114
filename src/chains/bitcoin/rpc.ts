/** JSON-RPC over HTTP as Bitcoin Core and btcd serve it. */

const timeoutMs = 10_000;
/** A full block has 4 MB, which are twice as many hex digits. */
const maxResponseBytes = 12 * 1024 * 1024;

/** A JSON-RPC error: the node responded and refused the request. */
export class NodeRefusal extends Error {
  override readonly name = 'NodeRefusal';
  constructor(
    readonly code: number,
    /** The node's message: never shown to clients nor put into errors. */
    readonly nodeMessage: string,
  ) {
    super(`the node refused with code ${code}`);
  }
}

/** @throws NodeRefusal; Error, which contains neither url nor credentials, when there is no usable response. */
export type RpcCall = <T>(method: string, params: unknown[]) => Promise<T>;

interface RpcResponse<T> {
  result?: T;
  error?: { code?: unknown; message?: unknown } | null;
}

/** `url`: with user and password, as in http://user:password@127.0.0.1:8332. */
export function createRpcCall(url: string): RpcCall {
  const { username, password, ...parts } = splitCredentials(url);
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const headers = { 'content-type': 'application/json', ...(username && { authorization: `Basic ${credentials}` }) };
  return async <T>(method: string, params: unknown[]): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '1.0', id: 1, method, params });
    const response = await post(parts.url, headers, body);
    const { result, error } = await readResponse<T>(response);
    // some versions of btcd send a result beside an error
    if (error) throw new NodeRefusal(toCode(error.code), typeof error.message === 'string' ? error.message.slice(0, 500) : '');
    return result as T;
  };
}

function splitCredentials(text: string): { url: string; username: string; password: string } {
  const url = new URL(text);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  return { url: url.toString(), username, password };
}

const toCode = (code: unknown): number => (typeof code === 'number' ? code : 0);

async function post(url: string, headers: Record<string, string>, body: string): Promise<Response> {
  try {
    return await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(timeoutMs), redirect: 'error' });
  } catch (error) {
    throw withoutSecrets(error);
  }
}

/** Bitcoin Core answers refused requests with HTTP 404 or 500 and a body that says why. */
async function readResponse<T>(response: Response): Promise<RpcResponse<T>> {
  const text = await readBody(response).catch((error: unknown) => {
    throw withoutSecrets(error);
  });
  try {
    return JSON.parse(text) as RpcResponse<T>;
  } catch {
    throw new Error(`the response is no JSON (HTTP ${response.status})`);
  }
}

async function readBody({ body }: Response): Promise<string> {
  if (!body) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxResponseBytes) throw new Error('the response is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The messages of fetch and its causes may name the host. */
const withoutSecrets = (error: unknown): Error => new Error(error instanceof Error ? error.name : 'error');
