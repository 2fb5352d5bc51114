import { isJsonObject } from '../json';
import type { PacedPost } from '../paced-post';
import type { JsonObject, JsonValue } from '../types';

/** An answer of the node that is an error: its code, and what it says beside the text. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    readonly data: JsonValue | undefined,
    /** The node's message: never shown to clients nor put into errors as it stands (`unknownReason` takes the plain words). */
    readonly nodeMessage: string,
  ) {
    super(`the node answers with error ${code}`);
  }
}

/**
 * The result of a JSON-RPC call.
 * @throws RpcError; Error, which names neither host nor key, when there is no usable response in time.
 */
export async function call(post: PacedPost, method: string, params: JsonValue[], timeoutMs?: number): Promise<JsonValue> {
  return readResult(await post('', toRequest(method, params), timeoutMs));
}

export const toRequest = (method: string, params: JsonValue[]): object => ({ jsonrpc: '2.0', id: 1, method, params });

/** Of a response with status 200, which errors have too. @throws RpcError; Error for what is no response. */
export function readResult(answer: unknown): JsonValue {
  if (!isJsonObject(answer) || answer.id !== 1) throw new Error('the response is no answer');
  if (isJsonObject(answer.error)) throw toRpcError(answer.error);
  if (answer.result === undefined) throw new Error('the response has no result');
  return answer.result;
}

/** Of a node's message, as much as is kept. */
const maxMessage = 500;

const toRpcError = ({ code, data, message }: JsonObject): Error =>
  typeof code === 'number'
    ? new RpcError(code, data, typeof message === 'string' ? message.slice(0, maxMessage) : '')
    : new Error('the node answers with an error');
