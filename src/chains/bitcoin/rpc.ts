import { NoAnswer } from '../no-answer';
import { type Answer, createPost } from '../post';
import { readObject } from './answers';
import { maxResponseBytes, usualMs } from './http';

/** JSON-RPC over HTTP as Bitcoin Core and btcd serve it. */

/** A JSON-RPC error: the node responded and refused the request. */
export class NodeRefusal extends Error {
  override readonly name = 'NodeRefusal';
  constructor(
    readonly code: number,
    /** The node's message: never shown to clients nor put into errors as it stands (`unknownReason` takes the plain words). */
    readonly nodeMessage: string,
  ) {
    super(`the node refused with code ${code}`);
  }
}

/** The result is of the type that the node gives it. @throws NodeRefusal; Error, which contains neither url nor credentials, when there is no usable response. */
export type RpcCall = <T>(method: string, params: unknown[], timeoutMs?: number) => Promise<T>;

/** Bitcoin Core lets 16 requests wait (-rpcworkqueue). */
const maxConnections = 16;

/** `url`: with user and password, as in http://user:password@127.0.0.1:8332. */
export function createRpcCall(url: string): RpcCall {
  const post = createPost(url, { timeoutMs: usualMs, maxConnections, maxBytes: maxResponseBytes });
  return async <T>(method: string, params: unknown[], timeoutMs?: number): Promise<T> =>
    readResult(
      await post(JSON.stringify({ jsonrpc: '1.0', id: 1, method, params }), timeoutMs === undefined ? {} : { timeoutMs }),
    ) as T;
}

const toCode = (code: unknown): number => (typeof code === 'number' ? code : 0);

/** Of what is in front of a node and limits requests: what it sends with that is about none of them. */
const tooManyRequests = 429;

/** Bitcoin Core answers refused requests with HTTP 404 or 500 and a body that says why. Anything else may be of a proxy before it. */
function readResult({ status, text }: Answer): unknown {
  if (status === tooManyRequests) throw new NoAnswer(`the response has no result (HTTP ${status})`);
  const response = readObject(parse(text, status));
  const { error } = response;
  // some versions of btcd send a result beside an error
  if (error !== undefined && error !== null) {
    const { code, message } = readObject(error);
    throw new NodeRefusal(toCode(code), typeof message === 'string' ? message.slice(0, 500) : '');
  }
  if (status !== 200 || !Object.hasOwn(response, 'result')) throw new NoAnswer(`the response has no result (HTTP ${status})`);
  return response.result;
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NoAnswer(`the response is no JSON (HTTP ${status})`);
  }
}
