// Clients that do what they should not, in a process of their own. One argument, JSON: {port, token, loud, silent}: so many connections that
// send requests as fast as they are answered, and so many that send nothing. Writes a line once all are open; standard input ends it.
import { connect } from 'node:net';

const { port, token, loud, silent } = JSON.parse(process.argv[2]);
const head = (method, path, headers = []) =>
  `${method} /api/v1${path} HTTP/1.1\r\n${['Host: a', `Authorization: Bearer ${token}`, ...headers].join('\r\n')}\r\n\r\n`;
const post = (path, body, length = body.length) =>
  head('POST', path, ['Content-Type: application/json', `Content-Length: ${length}`]) + body;
const events = JSON.stringify({ url: 'https://a.example', events: Array.from({ length: 30_000 }, () => ({})) });
const payment = `{"x402Version":2,"paymentPayload":[${'0,'.repeat(50_000)}0]}`;
const nested = `{"wallet_name":${'['.repeat(40_000)}${']'.repeat(40_000)}}`;

/** What a connection sends at its start, and again after each answer. */
const kinds = [
  head('GET', `/wallets?${'a&'.repeat(3_800)}`),
  post('/webhooks', events),
  post('/wallets', nested),
  post('/x402/verify', payment),
  head('GET', '/wallets').repeat(200),
  // of a body that never comes
  post('/wallets', '{', 50_000),
];

let open = 0;
const opened = () => {
  open += 1;
  if (open === loud + silent) process.stdout.write('open\n');
};

/** Comes back whenever it is closed. */
function shout(request, isFirst = true) {
  const socket = connect({ port, host: '127.0.0.1' }, () => {
    if (isFirst) opened();
    socket.write(request);
  });
  socket.on('data', () => socket.write(request));
  socket.on('error', () => undefined);
  socket.on('close', () => setTimeout(() => shout(request, false), 10));
}

const stayAway = () => connect({ port, host: '127.0.0.1' }, opened).on('error', () => undefined);

for (let index = 0; index < loud; index += 1) shout(kinds[index % kinds.length]);
// not all at once: the queue of the operating system is short
const openSilent = (left) => {
  for (let count = 0; count < Math.min(left, 200); count += 1) stayAway();
  if (left > 200) setTimeout(() => openSilent(left - 200), 20);
};
openSilent(silent);
process.stdin.resume().on('end', () => process.exit(0));
