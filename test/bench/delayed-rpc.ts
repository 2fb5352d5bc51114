import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** A node that is `delayMs` away: what is asked of the url, with the user and the password of `rpc`, is asked of `rpc` so much later. */
export async function delayedRpc(rpc: string, delayMs: number): Promise<{ url: string; close: () => void }> {
  const [node, shown] = [new URL(rpc), new URL(rpc)];
  // fetch takes no url with a user
  [node.username, node.password] = ['', ''];
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    const headers = { 'Content-Type': 'application/json', ...(authorization !== undefined && { authorization }) };
    void text(request)
      .then(async (body) => {
        await delay(delayMs);
        const answer = await fetch(node, { method: 'POST', headers, body });
        response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text());
      })
      .catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  shown.port = String((server.address() as AddressInfo).port);
  return { url: shown.toString(), close: () => server.close() };
}
