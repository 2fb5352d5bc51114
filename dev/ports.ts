import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const taken = new Set<number>();

/**
 * Below the ports that systems give to outgoing connections (Linux: from 32768 on), one of which could take a port between this and the
 * time at which it is listened on.
 */
const [lowest, highest] = [12_000, 32_000];
const maxTries = 1_000;

/**
 * The preferred port of 127.0.0.1 if it is free, else any. Never returns a port twice in a process.
 * @throws Error when none is found.
 */
export async function freePort(preferred = randomPort()): Promise<number> {
  let port = preferred;
  for (let tries = 1; tries <= maxTries; tries += 1, port = randomPort()) {
    if (taken.has(port) || !(await isBindable(port))) continue;
    taken.add(port);
    return port;
  }
  throw new Error(`no free port between ${lowest} and ${highest}`);
}

const randomPort = (): number => randomInt(lowest, highest);

function isBindable(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
