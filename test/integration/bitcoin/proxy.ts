import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRpcCall, NodeRefusal } from '../../../src/chains/bitcoin/rpc';

/** What the proxy says in place of the node; undefined: what the node says. Throws a NodeRefusal to refuse. */
export type Answers = Record<string, (...params: unknown[]) => unknown>;

/** An endpoint that asks a node and answers some methods by itself; `refusedWith`: the HTTP status of refusals (500 of Bitcoin Core). */
export async function startBitcoinProxy(node: string, answers: Answers, refusedWith = 500) {
  const call = createRpcCall(node);
  const seen: { method: string; authorization: string | undefined }[] = [];
  const answer = async (method: string, params: unknown[]): Promise<{ result?: unknown; error?: object }> => {
    try {
      const own = await answers[method]?.(...params);
      return { result: own === undefined ? await call(method, params) : own };
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error;
      return { error: { code: error.code, message: error.nodeMessage } };
    }
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, params } = JSON.parse(Buffer.concat(chunks).toString()) as { method: string; params: unknown[] };
      seen.push({ method, authorization: request.headers.authorization });
      void answer(method, params).then((said) => {
        response.writeHead(said.error ? refusedWith : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ id: 1, result: null, error: null, ...said }));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://user:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
