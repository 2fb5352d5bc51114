// Asks a facilitator about payments, as resource servers do, in a process of its own: the asker's work is not the facilitator's.
// Lines of JSON on standard input: {url, token, inFlight, bodies}; for each a line {ok, seconds}: how many are valid, and the time for all.
import { createInterface } from 'node:readline';

for await (const line of createInterface(process.stdin)) {
  const { url, token, inFlight, bodies } = JSON.parse(line);
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
  let ok = 0;
  const ask = async () => {
    for (let body = bodies.pop(); body; body = bodies.pop()) {
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      if ((await answer.json()).isValid) ok += 1;
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: inFlight }, ask));
  process.stdout.write(`${JSON.stringify({ ok, seconds: (performance.now() - began) / 1000 })}\n`);
}
