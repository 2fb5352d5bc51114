/** What one connection sends to take more of the process than its share, at its start and again after each answer. */
export interface HostileKind {
  name: 'query' | 'list' | 'levels' | 'open_body' | 'pipelined' | 'no_body';
  request: string;
}

const base = '/api/v1';

export const requestHead = (token: string, method: string, path: string, headers: string[] = []): string =>
  `${method} ${base}${path} HTTP/1.1\r\n${['Host: a', `Authorization: Bearer ${token}`, ...headers].join('\r\n')}\r\n\r\n`;

/** `length`: what the header says. */
export const requestWithBody = (token: string, path: string, body: string, length = body.length): string =>
  requestHead(token, 'POST', path, ['Content-Type: application/json', `Content-Length: ${length}`]) + body;

const events = JSON.stringify({ url: 'https://a.example', events: Array.from({ length: 30_000 }, () => ({})) });
const payment = `{"x402Version":2,"paymentPayload":[${'0,'.repeat(50_000)}0]}`;
const nested = `{"wallet_name":${'['.repeat(40_000)}${']'.repeat(40_000)}}`;

/** The kinds that `npm run bench -- hostile` measures, and whose work hostile-work.test.ts counts. */
export const hostileRequests = (token: string): HostileKind[] => [
  { name: 'query', request: requestHead(token, 'GET', `/wallets?${'a&'.repeat(3_800)}`) },
  { name: 'list', request: requestWithBody(token, '/webhooks', events) },
  { name: 'levels', request: requestWithBody(token, '/wallets', nested) },
  { name: 'open_body', request: requestWithBody(token, '/x402/verify', payment) },
  { name: 'pipelined', request: requestHead(token, 'GET', '/wallets').repeat(200) },
  { name: 'no_body', request: requestWithBody(token, '/wallets', '{', 50_000) },
];
