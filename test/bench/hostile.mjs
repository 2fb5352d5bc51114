// Clients that do what they should not, in a process of their own. The first line of standard input, JSON: {port, requests, loud, silent}: so many
// connections that send one of the requests each, as fast as they are answered, and so many that send nothing. Writes a line once all are open;
// the end of standard input ends it.
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

function begin({ port, requests, loud, silent }) {
  let open = 0;
  const opened = () => {
    open += 1;
    if (open === loud + silent) process.stdout.write('open\n');
  };

  /** Comes back whenever it is closed. */
  const shout = (request, isFirst = true) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      if (isFirst) opened();
      socket.write(request);
    });
    socket.on('data', () => socket.write(request));
    socket.on('error', () => undefined);
    socket.on('close', () => setTimeout(() => shout(request, false), 10));
  };

  const stayAway = () => connect({ port, host: '127.0.0.1' }, opened).on('error', () => undefined);

  for (let index = 0; index < loud; index += 1) shout(requests[index % requests.length]);
  // not all at once: the queue of the operating system is short
  const openSilent = (left) => {
    for (let count = 0; count < Math.min(left, 200); count += 1) stayAway();
    if (left > 200) setTimeout(() => openSilent(left - 200), 20);
  };
  openSilent(silent);
}

const lines = createInterface({ input: process.stdin });
lines.once('line', (line) => begin(JSON.parse(line)));
lines.on('close', () => process.exit(0));
