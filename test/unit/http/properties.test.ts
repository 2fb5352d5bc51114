import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Document } from '../../openapi';
import { checkOperations, endRun } from '../../properties/run';

/** The property tests must find these defects: a server that is correct except for one. */

interface Reply {
  status: number;
  headers?: Record<string, string>;
  body: object;
}

const right: Reply = { status: 200, body: { ok: true } };
const problem = (status: number): Reply => ({
  status,
  headers: { 'content-type': 'application/problem+json' },
  body: { status, request_id: 'r' },
});

const okSchema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'], additionalProperties: false };
const document: Document = {
  openapi: '3.1.0',
  components: { schemas: {} },
  paths: {
    '/things': {
      post: {
        operationId: 'createThing',
        parameters: [],
        requestBody: {
          content: { 'application/json': { schema: { properties: { name: { type: 'string' } }, required: ['name'] } } },
        },
        responses: {
          '200': { headers: { 'X-Request-Id': { required: true } }, content: { 'application/json': { schema: okSchema } } },
          '500': { headers: {}, content: { 'application/problem+json': { schema: { type: 'object' } } } },
        },
      },
    },
  },
};

let server: Server;
let reply: (body: string, request: IncomingMessage) => Reply;
beforeAll(async () => {
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (data: Buffer) => (text += data.toString()));
    request.on('end', () => {
      const { status, headers, body } = reply(text, request);
      const usual = { 'content-type': 'application/json', 'x-request-id': 'r', 'cache-control': 'no-store' };
      response.writeHead(status, { ...usual, ...headers }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  endRun();
  server.closeAllConnections();
  server.close();
});

const run = () => {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = { baseUrl, token: () => Promise.resolve('t'), document, known: {} };
  return checkOperations(
    document,
    () => Promise.resolve(target),
    () => 200,
  );
};

test('finds nothing where every answer is documented', async () => {
  reply = () => right;
  expect(await run()).toEqual({ statuses: { 'post /things': { 200: 200 } }, failures: [] });
});

test.each<[string, typeof reply, RegExp]>([
  ['a 500, though it is documented', (body) => (body.includes('extra') ? problem(500) : right), /answered 500/],
  ['a status that is not documented', (body) => (body.startsWith('{"') ? right : problem(400)), /answered 400 .*does not know/],
  [
    'a body that is not as documented',
    (_, { url }) => (url === '/things' ? right : { ...right, body: { ok: 'yes' } }),
    /must be boolean/,
  ],
  [
    'a field too many',
    (_, { headers }) => (headers.authorization ? right : { ...right, body: { ok: true, pin: 1 } }),
    /additional/,
  ],
  ['an answer that may be stored', () => ({ ...right, headers: { 'cache-control': 'public' } }), /may be stored/],
])('finds %s, and names the seed', async (_, broken, words) => {
  reply = broken;
  const {
    failures: [found = '', ...others],
  } = await run();
  expect(others).toEqual([]);
  expect(found).toMatch(words);
  expect(found).toMatch(/seed: \d+/);
});
