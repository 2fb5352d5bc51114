import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/**
 * Below the ports that systems give to outgoing connections (Linux: from 32768 on), one of which could take a port between this and the
 * time at which it is listened on.
 */
const [lowest, highest] = [12_000, 32_000];
const portsOfBlock = 20;
const maxTries = 1_000;

/** Which process has which block of ports: an empty file `<first port>.<process id>` for each, of every process of this user. */
const claims = join(tmpdir(), `custody-gateway-ports-${userInfo().uid}`);
const taken = new Set<number>();
const free: number[] = [];

/**
 * The preferred port of 127.0.0.1 if it is free, else one of a block from which only this process takes ports while it lives, so that a server
 * that is away for a moment, for example while it is restarted, finds its port free. Never returns a port twice in a process.
 * @throws Error when none is found.
 */
export async function freePort(preferred?: number): Promise<number> {
  for (let tries = 0; tries <= maxTries; tries += 1) {
    const port = tries === 0 && preferred !== undefined ? preferred : nextPort();
    if (taken.has(port) || !(await isBindable(port))) continue;
    taken.add(port);
    return port;
  }
  throw new Error(`no free port between ${lowest} and ${highest}`);
}

function nextPort(): number {
  if (free.length === 0) {
    const first = claimBlock();
    free.push(...Array.from({ length: portsOfBlock }, (_, index) => first + index));
  }
  return free.splice(randomInt(free.length), 1)[0]!;
}

function claimBlock(): number {
  mkdirSync(claims, { recursive: true });
  for (let tries = 0; tries < maxTries; tries += 1) {
    const first = lowest + portsOfBlock * randomInt((highest - lowest) / portsOfBlock);
    if (isClaimed(first)) return first;
  }
  throw new Error(`every block of ports between ${lowest} and ${highest} belongs to a process: see ${claims}`);
}

/**
 * Whoever is not alone once its claim can be read gives way, so that of two at the same time none or one has the block. One that this process has
 * already is not given again: jest loads this module once for every file of tests, and servers of another file may be restarting.
 */
function isClaimed(first: number): boolean {
  const own = join(claims, `${first}.${process.pid}`);
  if (existsSync(own)) return false;
  writeFileSync(own, '');
  let isAlone = true;
  for (const claim of readClaims()) {
    if (claim.first !== first || claim.pid === process.pid) continue;
    if (isAlive(claim.pid)) isAlone = false;
    else rmSync(join(claims, `${first}.${claim.pid}`), { force: true });
  }
  if (!isAlone) rmSync(own, { force: true });
  return isAlone;
}

function readClaims(): { first: number; pid: number }[] {
  return readdirSync(claims).map((name) => {
    const [first, pid] = name.split('.').map(Number);
    return { first: first!, pid: pid! };
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // it belongs to another user
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isBindable(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
