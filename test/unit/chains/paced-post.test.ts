import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LimitedRequests } from '../../../src/chains/no-answer';
import { Pace } from '../../../src/chains/pace';
import { createPacedPost, type HttpTarget } from '../../../src/chains/paced-post';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function target(answer: RequestListener, changes: Partial<HttpTarget> = {}): Promise<HttpTarget> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/key`;
  return {
    base,
    headers: { 'x-key': 'k' },
    pace: new Pace(1_000).turns(),
    tooMany: new Set([429]),
    maxResponseBytes: 100,
    ...changes,
  };
}

test('the JSON that a path answers, with the headers of the endpoint', async () => {
  const post = createPacedPost(
    await target(({ url, headers, method }, response) => {
      response.end(JSON.stringify([method, url, headers['x-key'], headers['content-type']]));
    }),
  );
  expect(await post('/path', { a: 1 })).toEqual(['POST', '/key/path', 'k', 'application/json']);
});

test('requests are as far apart as the endpoint wants', async () => {
  // where a request may be sent: on its way each of them may be held up
  const [allowed, arrived]: [number[], number[]] = [[], []];
  const pace = new Pace(20).turns();
  const wait = pace.wait.bind(pace);
  pace.wait = () => wait().then(() => void allowed.push(performance.now()));
  const post = createPacedPost(
    await target(
      (_request, response) => {
        arrived.push(performance.now());
        response.end('{}');
      },
      { pace },
    ),
  );
  await Promise.all([post('', {}), post('', {}), post('', {})]);
  expect((allowed[2] ?? 0) - (allowed[0] ?? 0)).toBeGreaterThanOrEqual(80);
  expect(arrived.map((ms, n) => ms >= (allowed[n] ?? Infinity))).toEqual([true, true, true]);
});

test('what was one too many is repeated twice, a second later each time', async () => {
  let asked = 0;
  const post = createPacedPost(
    await target((_request, response) => {
      asked += 1;
      response.writeHead(429).end('{}');
    }),
  );
  const began = performance.now();
  const refused: unknown = await post('', {}).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(LimitedRequests);
  expect(refused).toEqual(new Error('the response is no answer (HTTP 429)'));
  expect(asked).toBe(3);
  expect(performance.now() - began).toBeGreaterThanOrEqual(1_990);
});

test.each<[string, RequestListener, string]>([
  [
    'a redirection',
    (_request, response) => void response.writeHead(302, { location: '/' }).end(),
    'the response is no answer (HTTP 302)',
  ],
  ['no JSON', (_request, response) => void response.end('<html>'), 'the response is no JSON'],
  ['too much', (_request, response) => void response.end(JSON.stringify('x'.repeat(100))), 'the response is too long'],
  ['nothing in time', () => undefined, 'no response in time'],
])('%s is no answer, and names neither host nor key', async (_, answer, message) => {
  const timeoutMs = message === 'no response in time' ? 200 : 5_000;
  await expect(createPacedPost(await target(answer))('', {}, timeoutMs)).rejects.toEqual(new Error(message));
});
