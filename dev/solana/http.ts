import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { BadRequest, control, type Controlled } from './control';
import { type Json, type JsonObject, isObject, stringify } from './json';
import { answer, methodsOf, type Served } from './rpc';

const maxBodyBytes = 1_048_576;
const maxBatch = 100;
const endpointPath = /^\/(?:endpoint\/([\w-]{1,40})\/?)?$/;

class TooLarge extends Error {}

export function createLocalServer(served: Served & Controlled): Server {
  const methods = methodsOf(served);
  const server = createServer((request, response) => {
    run(request, response).catch((error: unknown) => {
      const isClients = error instanceof BadRequest || error instanceof RangeError;
      if (!isClients && !(error instanceof TooLarge)) console.error(error);
      reply(response, error instanceof TooLarge ? 413 : isClients ? 400 : 500, { error: (error as Error).message });
    });
  });
  server.requestTimeout = 30_000;
  return server;

  async function run(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const body = parse(await readBody(request));
    const name = /^\/control\/(\w{1,60})$/.exec(pathname)?.[1];
    if (name) {
      const result = await control(name, served, isObject(body) ? body : {});
      return result === undefined ? reply(response, 404, {}) : reply(response, 200, result);
    }
    const found = endpointPath.exec(pathname);
    if (!found) return reply(response, 404, {});
    const endpointName = found[1] ?? '';
    const endpoint = served.faults.of(endpointName);
    if (endpoint.slowMs > 0) await setTimeout(endpoint.slowMs);
    if (endpoint.down) return void request.socket.destroy();
    if (served.faults.isTooMany(endpointName)) return reply(response, 429, rpcFailure(429, 'Too many requests'));
    if (request.method === 'GET') return reply(response, 404, {});
    if (body === undefined) return reply(response, 200, rpcFailure(-32_700, 'Parse error'));
    if (!Array.isArray(body)) return reply(response, 200, answer(served, methods, endpoint, body));
    if (body.length === 0 || body.length > maxBatch) return reply(response, 200, rpcFailure(-32_600, 'Invalid request'));
    reply(
      response,
      200,
      body.map((entry) => answer(served, methods, endpoint, entry)),
    );
  }
}

const rpcFailure = (code: number, message: string): JsonObject => ({ jsonrpc: '2.0', error: { code, message }, id: null });

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new TooLarge('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function reply(response: ServerResponse, status: number, json: Json): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' }).end(stringify(json));
}
