import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createPost } from '../../../src/chains/post';

const limits = { timeoutMs: 5_000, maxBytes: 1_000, maxConnections: 2 };
/** Where it is to pass. */
const shortMs = 300;
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

test('a request can have a path, a time and headers of its own', async () => {
  const seen: unknown[] = [];
  const url = await serve(({ url: path, headers }, response) => {
    seen.push([path, headers['x-key'], headers['user-agent']]);
    setTimeout(() => response.end('late'), 400);
  });
  const post = createPost(url, { ...limits, timeoutMs: shortMs, headers: { 'x-key': 'secret' } });
  expect(await post('{}', { path: '&more', timeoutMs: 5_000 })).toEqual({ status: 200, text: 'late' });
  await expect(post('{}')).rejects.toEqual(new Error('no response in time'));
  expect(seen[0]).toEqual(['/path?query&more', 'secret', 'custody-gateway']);
});

test('a request whose kept connection is closed meanwhile is sent once more, over a new one', async () => {
  const seen: (number | undefined)[] = [];
  const url = await serve(({ socket }, response) => {
    seen.push(socket.remotePort);
    if (seen.length === 2 || seen.length > 3) socket.destroy();
    else response.end('[]');
  });
  const post = createPost(url, limits);
  await post('{}');
  expect(await post('{}')).toEqual({ status: 200, text: '[]' });
  expect(seen[1]).toBe(seen[0]);
  expect(seen[2]).not.toBe(seen[0]);
  await expect(post('{}')).rejects.toEqual(new Error('ECONNRESET'));
  expect(seen).toHaveLength(4);
});

test('no more requests than connections at a time', async () => {
  let [open, most] = [0, 0];
  const url = await serve((_request, response) => {
    most = Math.max(most, (open += 1));
    setTimeout(() => {
      open -= 1;
      response.end('[]');
    }, 20);
  });
  const post = createPost(url, limits);
  await Promise.all(Array.from({ length: 6 }, () => post('{}')));
  expect(most).toBe(limits.maxConnections);
});

/** Answers what it is given as a node does that compresses. */
const compressed =
  (body: Buffer): RequestListener =>
  ({ headers }, response) => {
    expect(headers['accept-encoding']).toBe('gzip');
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(body);
  };

test('an answer may be compressed', async () => {
  const text = JSON.stringify('ü'.repeat(400));
  expect(await createPost(await serve(compressed(gzipSync(text))), limits)('{}')).toEqual({ status: 200, text });
});

test('a redirection is not followed', async () => {
  const asked: (string | undefined)[] = [];
  const url = await serve(({ url: path }, response) => {
    asked.push(path);
    response.writeHead(307, { location: '/other' }).end();
  });
  expect(await createPost(url, limits)('{}')).toEqual({ status: 307, text: '' });
  expect(asked).toEqual(['/path?query']);
});

test.each<[string, RequestListener, string]>([
  ['a long answer that was compressed', compressed(gzipSync('x'.repeat(1_001))), 'the response is too long'],
  ['half of what was compressed', compressed(gzipSync('x'.repeat(100)).subarray(0, 12)), 'Z_BUF_ERROR'],
  ['what was not compressed', compressed(Buffer.from('{}')), 'Z_DATA_ERROR'],
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
  const timeoutMs = message === 'no response in time' ? shortMs : limits.timeoutMs;
  await expect(createPost(await serve(answer), { ...limits, timeoutMs })('{}')).rejects.toEqual(new Error(message));
});

test('nobody there rejects, without the url', async () => {
  await expect(createPost('http://127.0.0.1:9/key', limits)('{}')).rejects.toEqual(new Error('ECONNREFUSED'));
});
