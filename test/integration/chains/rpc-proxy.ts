import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface RpcRequest {
  id: number;
  method: string;
  params: unknown[];
}

interface RpcAnswer {
  id: number;
  result?: unknown;
  error?: { code: number; message: string; data?: string };
}

/** What the proxy says in place of the node; undefined: what the node has said. */
export type Falsify = (request: RpcRequest, result: unknown) => Pick<RpcAnswer, 'result' | 'error'> | undefined;

/** An endpoint that asks another one and falsifies some of its answers. */
export async function startRpcProxy(url: string, falsify: Falsify): Promise<{ url: string; close(): void }> {
  const answer = async (body: string): Promise<RpcAnswer[] | RpcAnswer> => {
    const asked = JSON.parse(body) as RpcRequest | RpcRequest[];
    const said = (await (await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })).json()) as
      RpcAnswer | RpcAnswer[];
    const requests = [asked].flat();
    const answers = [said].flat().map((one): RpcAnswer => {
      const request = requests.find(({ id }) => id === one.id);
      const other = request && falsify(request, one.result);
      return other ? { id: one.id, ...other } : one;
    });
    return Array.isArray(asked) ? answers : (answers[0] as RpcAnswer);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void answer(Buffer.concat(chunks).toString()).then((answers) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers)),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
