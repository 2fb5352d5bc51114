import { createServer } from 'node:net';

const taken = new Set<number>();

/** The preferred port of 127.0.0.1 if it is free, else one chosen by the system. Never returns a port twice in a process. */
export async function freePort(preferred = 0): Promise<number> {
  for (let port = preferred; ; port = 0) {
    const found = taken.has(port) ? null : await bindable(port);
    if (found === null || taken.has(found)) continue;
    taken.add(found);
    return found;
  }
}

function bindable(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : null));
    });
  });
}
