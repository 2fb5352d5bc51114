// A node in a process of its own that repeats what another one has answered, byte for byte: what answers cost that node is no part of what is
// measured. The first line of standard input, JSON: {url}, the node, whose chain has to stand still. A call that was not recorded is asked of it,
// by itself. Writes {port}. POST /away/<ms>: JSON-RPC, answered so much later. GET /counts: what was asked, how often there was no record, and its
// own processor time, since the last time. The end of standard input ends it.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const recorded = new Map();
const none = () => ({ http_requests: 0, calls: {}, bytes: 0, missed: 0 });
let counts = none();
let usage = process.cpuUsage();

/** The answer after the id, as the node has written it. */
async function record(url, method, params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const answer = await response.text();
  const head = '{"jsonrpc":"2.0","id":1,';
  if (!answer.startsWith(head)) throw new Error(`the answer to ${method} has another form`);
  return Buffer.from(answer.slice(head.length));
}

function find(url, { method, params }) {
  const key = `${method} ${JSON.stringify(params)}`;
  counts.calls[method] = (counts.calls[method] ?? 0) + 1;
  if (!recorded.has(key)) {
    counts.missed += 1;
    recorded.set(key, record(url, method, params));
  }
  return recorded.get(key);
}

async function answer(url, body) {
  const asked = JSON.parse(body);
  const calls = [asked].flat();
  const answers = await Promise.all(calls.map((call) => find(url, call)));
  const parts = answers.flatMap((found, index) => [
    Buffer.from(`${index > 0 ? ',' : ''}{"jsonrpc":"2.0","id":${JSON.stringify(calls[index].id)},`),
    found,
  ]);
  return Array.isArray(asked) ? Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']')]) : Buffer.concat(parts);
}

async function serve(url, request, response) {
  if (request.url === '/counts') {
    const { user, system } = process.cpuUsage(usage);
    response.end(JSON.stringify({ ...counts, processor_ms: (user + system) / 1_000 }));
    counts = none();
    usage = process.cpuUsage();
    return;
  }
  const body = await text(request);
  const awayMs = Number(/^\/away\/(\d+)/.exec(request.url)?.[1] ?? 0);
  if (awayMs > 0) await delay(awayMs);
  const answered = await answer(url, body);
  counts.http_requests += 1;
  counts.bytes += answered.length;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': answered.length }).end(answered);
}

const lines = createInterface({ input: process.stdin });
lines.once('line', (line) => {
  const { url } = JSON.parse(line);
  const server = createServer((request, response) => {
    serve(url, request, response).catch((error) => {
      process.stderr.write(`${error.stack}\n`);
      response.destroy();
    });
  }).listen(0, '127.0.0.1', () => process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`));
});
lines.on('close', () => process.exit(0));
