import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { JsonObject } from '../../src/chains/types';

/** As the official facilitator is served: by express, here without authentication and limits. Answers every POST. */
export async function serveByExpress(answer: (body: JsonObject) => Promise<object>): Promise<{ url: string; close: () => void }> {
  const app = express().use(express.json());
  app.post('/', async (request, response) => {
    response.json(await answer(request.body as JsonObject));
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
