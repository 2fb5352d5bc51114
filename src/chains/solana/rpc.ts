import { isJsonObject } from '../json';
import type { JsonObject, JsonValue } from '../types';

const usualMs = 10_000;
/** A full block with the details of its transactions has a few MB. */
const maxResponseBytes = 64 * 1024 * 1024;

/** An answer of the node that is an error: its code, and what it says beside the text. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    readonly data: JsonValue | undefined,
  ) {
    super(`the node answers with error ${code}`);
  }
}

/**
 * The result of a JSON-RPC call.
 * @throws RpcError; Error, which names neither host nor key, when there is no usable response in time.
 */
export async function call(url: string, method: string, params: JsonValue[], timeoutMs = usualMs): Promise<JsonValue> {
  const answer: unknown = parse(await send(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), timeoutMs));
  if (!isJsonObject(answer) || answer.id !== 1) throw new Error('the response is no answer');
  if (isJsonObject(answer.error)) throw toRpcError(answer.error);
  if (answer.result === undefined) throw new Error('the response has no result');
  return answer.result;
}

const toRpcError = ({ code, data }: JsonObject): Error =>
  typeof code === 'number' ? new RpcError(code, data) : new Error('the node answers with an error');

async function send(url: string, body: string, timeoutMs: number): Promise<string> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', signal, redirect: 'error', body, headers });
    // errors have status 200 too
    if (response.status !== 200) throw new Refused(`the response is no answer (HTTP ${response.status})`);
    return await readBody(response);
  } catch (error) {
    throw new Error(error instanceof Refused ? error.message : error instanceof Error ? error.name : 'error');
  }
}

class Refused extends Error {}

async function readBody({ body }: Response): Promise<string> {
  if (!body) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxResponseBytes) throw new Refused('the response is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the response is no JSON');
  }
}
