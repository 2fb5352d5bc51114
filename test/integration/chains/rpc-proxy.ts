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

/** What the proxy says without asking the node; undefined: the node is asked. If it rejects, the connection is cut. */
export type Withhold = (request: RpcRequest) => Promise<Pick<RpcAnswer, 'result' | 'error'> | undefined>;

/** An endpoint that asks another one and falsifies some of its answers. */
export async function startRpcProxy(
  url: string,
  falsify: Falsify,
  withhold: Withhold = () => Promise.resolve(undefined),
): Promise<{ url: string; close(): void }> {
  const ask = async (request: RpcRequest): Promise<RpcAnswer> => {
    const body = JSON.stringify({ ...request, jsonrpc: '2.0' });
    const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    return (await response.json()) as RpcAnswer;
  };
  const answerOne = async (request: RpcRequest): Promise<RpcAnswer> => {
    const withheld = await withhold(request);
    if (withheld) return { id: request.id, ...withheld };
    const said = await ask(request);
    const other = falsify(request, said.result);
    return other ? { id: request.id, ...other } : said;
  };
  const answer = async (body: string): Promise<RpcAnswer[] | RpcAnswer> => {
    const asked = JSON.parse(body) as RpcRequest | RpcRequest[];
    return Array.isArray(asked) ? Promise.all(asked.map(answerOne)) : answerOne(asked);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void answer(Buffer.concat(chunks).toString()).then(
        (answers) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers)),
        () => response.destroy(),
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
