import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Received {
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
  path: string;
  payload: { type: string; timestamp: string; data: Record<string, unknown> };
}

export type Reply = (response: ServerResponse, received: Received) => void;

export interface Receiver {
  url: string;
  received: Received[];
  /** Replies to the next requests, in order; then 200. */
  replies: Reply[];
  close(): Promise<void>;
}

export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Reply =>
  (response) =>
    void response.writeHead(code, headers).end(body);

/** A client's own HTTP server. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const replies: Reply[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { headers, url = '' } = request;
      const one = { id: String(headers['webhook-id']), headers, body, path: url, payload: JSON.parse(body) };
      received.push(one);
      (replies.shift() ?? status(200, {}, 'thanks'))(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    replies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Verifies a received event as a client does. @throws when the signature is wrong. */
export const verify = (secret: string, { body, headers }: Received): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>);
