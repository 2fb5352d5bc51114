import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPost } from '../../../src/chains/evm/post';

const limits = { timeoutMs: 300, maxBytes: 1_000, maxConnections: 2 };
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://user:key@127.0.0.1:${(server.address() as AddressInfo).port}/path?query`;
}

test('sends the body with what the url says, again and again over one connection', async () => {
  const seen: unknown[] = [];
  const url = await serve((request, response) => {
    const { method, url: path, headers, socket } = request;
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      seen.push([method, path, headers.authorization, headers['content-type'], body, socket.remotePort]);
      response.writeHead(429).end('[1,"ü"]');
    });
  });
  const post = createPost(url, limits);
  expect(await post('{"ä":1}')).toEqual({ status: 429, text: '[1,"ü"]' });
  await post('{"ä":1}');
  const basic = `Basic ${Buffer.from('user:key').toString('base64')}`;
  expect(seen[0]).toEqual(['POST', '/path?query', basic, 'application/json', '{"ä":1}', expect.any(Number)]);
  expect(seen[1]).toEqual(seen[0]);
});

test.each<[string, RequestListener, string]>([
  ['no answer', () => undefined, 'no response in time'],
  ['half an answer', (_request, response) => void response.writeHead(200).write('half'), 'no response in time'],
  ['a long answer', (_request, response) => void response.end('x'.repeat(1_001)), 'the response is too long'],
  ['a cut connection', (request) => request.socket.destroy(), 'ECONNRESET'],
  [
    'a connection cut in the answer',
    (request, response) => void response.write('x', () => request.socket.destroy()),
    'ECONNRESET',
  ],
])('%s rejects, without the url', async (_, answer, message) => {
  await expect(createPost(await serve(answer), limits)('{}')).rejects.toEqual(new Error(message));
});

test('nobody there rejects, without the url', async () => {
  await expect(createPost('http://127.0.0.1:9/key', limits)('{}')).rejects.toEqual(new Error('ECONNREFUSED'));
});
