import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ClientOptions, GatewayClient } from '../../../client/src';

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Reply = (response: ServerResponse, seen: Seen) => void;

export interface FakeGateway {
  /** Requests but those for tokens. */
  seen: Seen[];
  /** Requests for tokens. */
  tokens: Seen[];
  /** To the next requests, in order; then the last one again. */
  replies: Reply[];
  /** The same for tokens; without any, token-1, token-2, …, valid for `expiresIn`. */
  tokenReplies: Reply[];
  /** Seconds. */
  expiresIn: number;
  client: (options?: Partial<ClientOptions>) => GatewayClient;
  close: () => Promise<void>;
}

export const credentials = { apiKey: 'key-of-test', apiSecret: 'secret-of-test' };

/** An HTTP server that answers as a test says, which may be wrong or nothing. */
export async function startFakeGateway(): Promise<FakeGateway> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      if (url === '/api/v1/auth/token') {
        fake.tokens.push(one);
        const token = json(200, { token: `token-${fake.tokens.length}`, expires_in: fake.expiresIn });
        return (fake.tokenReplies.shift() ?? token)(response, one);
      }
      fake.seen.push(one);
      const reply = fake.replies.length > 1 ? fake.replies.shift() : fake.replies[0];
      (reply ?? json(200, {}))(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
  const fake: FakeGateway = {
    ...{ seen: [], tokens: [], replies: [], tokenReplies: [], expiresIn: 900 },
    client: (options) => new GatewayClient({ baseUrl, ...credentials, limits: { pauseMs: 1 }, ...options }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

export const problem = (status: number, code: string, more: object = {}, headers: Record<string, string> = {}): Reply =>
  json(
    status,
    { type: 'urn:x', title: code, status, detail: `detail of ${code}`, instance: '/', code, request_id: 'r-1', ...more },
    {
      'content-type': 'application/problem+json',
      ...headers,
    },
  );

/** The connection ends without an answer. */
export const reset: Reply = (response) => void response.socket?.resetAndDestroy();

/** The answer breaks off in the middle. */
export const breakOff: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"secret":"whsec_', () => response.socket?.resetAndDestroy());
};

export const silence: Reply = () => undefined;
