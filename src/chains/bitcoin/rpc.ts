import { readObject } from './answers';
import { type HttpResponse, request } from './http';

/** JSON-RPC over HTTP as Bitcoin Core and btcd serve it. */

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

/** The result is of the type that the node gives it. @throws NodeRefusal; Error, which contains neither url nor credentials, when there is no usable response. */
export type RpcCall = <T>(method: string, params: unknown[]) => Promise<T>;

/** `url`: with user and password, as in http://user:password@127.0.0.1:8332. */
export function createRpcCall(url: string): RpcCall {
  const { username, password, ...parts } = splitCredentials(url);
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const headers = { 'content-type': 'application/json', ...(username && { authorization: `Basic ${credentials}` }) };
  return async <T>(method: string, params: unknown[]): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '1.0', id: 1, method, params });
    return readResult(await request({ method: 'POST', url: parts.url, headers, body })) as T;
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

/** Bitcoin Core answers refused requests with HTTP 404 or 500 and a body that says why. Anything else may be of a proxy before it. */
function readResult({ status, body }: HttpResponse): unknown {
  const response = readObject(parse(body, status));
  const { error } = response;
  // some versions of btcd send a result beside an error
  if (error !== undefined && error !== null) {
    const { code, message } = readObject(error);
    throw new NodeRefusal(toCode(code), typeof message === 'string' ? message.slice(0, 500) : '');
  }
  if (status !== 200 || !Object.hasOwn(response, 'result')) throw new Error(`the response has no result (HTTP ${status})`);
  return response.result;
}

function parse(body: Buffer, status: number): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new Error(`the response is no JSON (HTTP ${status})`);
  }
}
