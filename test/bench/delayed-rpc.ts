import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** A node that is `delayMs` away: what is asked of the url is asked of `rpc` so much later. */
export async function delayedRpc(rpc: string, delayMs: number): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    void text(request)
      .then(async (body) => {
        await delay(delayMs);
        const answer = await fetch(rpc, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
        response.setHeader('Content-Type', 'application/json').end(await answer.text());
      })
      .catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
