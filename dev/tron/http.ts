import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { BadBase58 } from './address';
import type { History } from './history';
import { commands, type Submit } from './commands';
import { BadRequest, control, type Controlled } from './control';
import { distort, type EndpointFaults } from './faults';
import { BadJson, isObject, type Json, type JsonObject, stringify, transactionId } from './json';
import { type Handler, queries, solidQueries } from './queries';
import { Refusal } from './refusal';

/** java-tron: node.http.maxMessageSize. */
const maxBodyBytes = 4 * 1_024 * 1_024;
const maxConnections = 500;

class TooLarge extends Error {}

/** /endpoint/<name>/wallet/… is the same chain by another endpoint, which has faults of its own. */
const nodePath = /^(?:\/endpoint\/([\w-]{1,40}))?\/(wallet|walletsolidity)\/(\w{1,60})$/;

export function createSimulatorServer(controlled: Controlled): Server {
  const handlers = toHandlers(controlled);
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      if (error instanceof TooLarge) return reply(response, 413, { Error: 'Payload Too Large' });
      if (error instanceof BadRequest) return reply(response, 400, { error: error.message });
      return reply(response, 500, { error: (error as Error).message });
    });
  });
  server.maxConnections = maxConnections;
  server.requestTimeout = 30_000;
  return server;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const body = await readBody(request);
    const simulator = /^\/simulator\/(\w{1,60})$/.exec(url.pathname)?.[1];
    if (simulator) {
      const result = await control(simulator, controlled, toObject(body) ?? {});
      return result === undefined ? reply(response, 404, {}) : reply(response, 200, result);
    }
    const [, name = '', tree, path = ''] = nodePath.exec(url.pathname) ?? [];
    const { chain, faults } = controlled;
    const endpoint = faults.of(name);
    if (endpoint.slowMs > 0) await setTimeout(endpoint.slowMs);
    if (endpoint.down) return void request.socket.destroy();
    if (faults.isTooMany(name)) return reply(response, 429, { Error: 'request rate exceeded' });
    const isSolid = tree === 'walletsolidity';
    const handler = Object.hasOwn(handlers, path) && (!isSolid || isOnSolid(path)) ? handlers[path] : undefined;
    if (!tree || !handler) return reply(response, 404, {});
    const query = Object.fromEntries(url.searchParams);
    // the block of now takes nothing from the body
    const given = request.method === 'GET' || path === 'getnowblock' ? query : toObject(body || '{}');
    if (!given) return reply(response, 200, { Error: 'class org.tron.json.JSONException : not a JSON object' });
    const result = await answerAsNode(handler, {
      ...{ chain, view: isSolid ? 'solid' : 'now', body: given },
      top: highestBlock(chain.history, endpoint, isSolid && endpoint.lie !== 'solid'),
      bottom: endpoint.firstBlock ?? 0,
      visible: given.visible === true || given.visible === 'true',
      endpoint: name,
    });
    reply(response, 200, distort(endpoint, path, result));
  }
}

function highestBlock({ head, solidNumber }: History, { stoppedAt }: EndpointFaults, isSolid: boolean): number {
  const now = { head: head.number, solidified: solidNumber };
  return Math.min(...[now, stoppedAt ?? now].map((shown) => (isSolid ? shown.solidified : shown.head)));
}

const isOnSolid = (path: string): boolean => [...solidQueries, 'triggerconstantcontract', 'estimateenergy'].includes(path);

function toHandlers({ chain, faults }: Controlled): Record<string, Handler> {
  const submit: Submit = async (transaction, endpoint) => {
    const id = transactionId(transaction).toString('hex');
    if (!chain.isBusy && faults.isRemembered(endpoint, id))
      throw new Refusal('DUP_TRANSACTION_ERROR', 'Transaction already exists.');
    const fault = faults.next();
    try {
      const taken = await chain.broadcast(transaction, fault);
      faults.remember(endpoint, id);
      return taken;
    } catch (error) {
      faults.giveBack(fault);
      if (!(error instanceof Refusal && error.code === 'SERVER_BUSY')) faults.remember(endpoint, id);
      throw error;
    }
  };
  return { ...queries, ...commands(submit) };
}

/** Util.processError: status 200 and the class of the exception. */
async function answerAsNode(handler: Handler, request: Parameters<Handler>[0]): Promise<Json> {
  try {
    return await handler(request);
  } catch (error) {
    if (error instanceof BadJson) return { Error: `class ${error.javaClass} : ${error.message}` };
    if (error instanceof BadBase58) return { Error: `class java.lang.IllegalArgumentException : ${error.message}` };
    throw error;
  }
}

function toObject(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new TooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function reply(response: ServerResponse, status: number, json: Json): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' }).end(stringify(json));
}
