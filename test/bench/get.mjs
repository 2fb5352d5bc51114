// Sends GET requests as a client does, in a process of its own: the asker's work is not the server's.
// Lines of JSON on standard input: {urls, token, inFlight, count}; for each a line {ms, seconds}: milliseconds of each, and the time for all.
import { Agent, get } from 'node:http';
import { createInterface } from 'node:readline';

const agent = new Agent({ keepAlive: true });
const ask = (url, token) =>
  new Promise((resolve, reject) => {
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    get(url, { agent, headers }, (answer) => {
      answer
        .resume()
        .on('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`${url} answered ${answer.statusCode}`))));
    }).on('error', reject);
  });

for await (const line of createInterface(process.stdin)) {
  const { urls, token, inFlight, count } = JSON.parse(line);
  const ms = [];
  let sent = 0;
  const askInTurn = async () => {
    while (sent < count) {
      const url = urls[sent % urls.length];
      sent += 1;
      const began = performance.now();
      await ask(url, token);
      ms.push(performance.now() - began);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: inFlight }, askInTurn));
  process.stdout.write(`${JSON.stringify({ ms, seconds: (performance.now() - began) / 1000 })}\n`);
}
