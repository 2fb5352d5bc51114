import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRpcCall, NodeRefusal } from '../../../src/chains/bitcoin/rpc';

interface Answer {
  status?: number;
  body: string | Buffer;
}

/** Esplora's HTTP interface over a node, as its API.md says. `changes`: answers of the test by path. */
export async function startEsplora(node: string, changes: Record<string, () => Answer> = {}) {
  const rpc = createRpcCall(node);
  const hex = async (method: string, ...params: unknown[]) => Buffer.from(await rpc<string>(method, params), 'hex');
  const json = (value: object): Answer => ({ body: JSON.stringify(value) });
  const routes: [RegExp, (match: string[], body: string) => Promise<Answer> | Answer][] = [
    [/^\/blocks\/tip\/height$/, async () => ({ body: String(await rpc<number>('getblockcount', [])) })],
    [/^\/block-height\/(\d+)$/, async ([, height]) => ({ body: await rpc<string>('getblockhash', [Number(height)]) })],
    [/^\/block\/(\w+)\/raw$/, async ([, hash]) => ({ body: await hex('getblock', hash, 0) })],
    [/^\/block\/(\w+)$/, async ([, hash]) => json(await rpc<object>('getblockheader', [hash, true]))],
    [/^\/tx\/(\w+)\/raw$/, async ([, id]) => ({ body: await hex('getrawtransaction', id, 0) })],
    [
      /^\/tx\/(\w+)\/status$/,
      async ([, id]) => {
        // as mempool.space does for an id that it does not know
        const found = await rpc<{ blockhash?: string }>('getrawtransaction', [id, 1]).catch(() => ({ blockhash: undefined }));
        if (!found.blockhash) return json({ confirmed: false });
        const { height } = await rpc<{ height: number }>('getblockheader', [found.blockhash, true]);
        return json({ confirmed: true, block_height: height, block_hash: found.blockhash });
      },
    ],
    [
      /^\/tx\/(\w+)\/outspend\/(\d+)$/,
      async ([, id, vout]) => {
        const isUnspent = (await rpc<unknown>('gettxout', [id, Number(vout), false])) !== null;
        return json(isUnspent ? { spent: false } : { spent: true, status: { confirmed: true } });
      },
    ],
    [/^\/mempool\/txids$/, async () => json(await rpc<string[]>('getrawmempool', []))],
    [/^\/fee-estimates$/, () => json({ '1': 87.9, '3': 12.1, '144': 1.0 })],
    [/^\/tx$/, async (_match, body) => ({ body: await rpc<string>('sendrawtransaction', [body]) })],
  ];
  const answer = async (path: string, body: string): Promise<Answer> => {
    const change = changes[path];
    if (change) return change();
    for (const [pattern, route] of routes) {
      const match = pattern.exec(path);
      if (match) return route([...match], body);
    }
    return { status: 404, body: 'Not Found' };
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = (request.url ?? '').replace(/^\/api/, '');
      void answer(path, Buffer.concat(chunks).toString())
        .catch((error: unknown): Answer => {
          if (!(error instanceof NodeRefusal)) throw error;
          if (path !== '/tx') return { status: 404, body: 'Transaction not found' };
          const refusal = JSON.stringify({ code: error.code, message: error.nodeMessage });
          return { status: 400, body: `sendrawtransaction RPC error: ${refusal}` };
        })
        .then(({ status = 200, body }) => response.writeHead(status).end(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api#esplora`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
