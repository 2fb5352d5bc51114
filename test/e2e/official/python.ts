import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Address, Hex } from 'viem';
import { api, stack } from '../../stack/client';
import { paidOn } from '../payers';
import type { Bought } from './buyer';
import { toRoutes, usualAmount } from './routes';
import type { Seller } from './sellers';

/** Sellers and buyers in Python, each a process of its own. */

const script = (name: string): string => path.join(__dirname, '../../official', name);
const limitMs = 90_000;

/** Sells the same routes as the others. */
export async function pythonSeller(python: string, payTo: Address): Promise<Omit<Seller, 'asked'>> {
  const seller = spawn(python, [script('seller.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const token = await api().accessToken();
  const sold = { facilitator: `${stack().base_url}/x402`, token, routes: toRoutes(payTo), usualAmount };
  seller.stdin.end(`${JSON.stringify(sold)}\n`);
  const port = await nextLine(createInterface(seller.stdout));
  return { url: `http://127.0.0.1:${port}`, close: () => end(seller) };
}

export interface PythonBuyer {
  /** Buys with the private key, one thing after the other. */
  buy: (key: Hex, url: string) => Promise<Bought>;
  close: () => Promise<void>;
}

export function pythonBuyer(python: string): PythonBuyer {
  const buyer = spawn(python, [script('buyer.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(buyer.stdout);
  return {
    buy: async (key, url) => {
      const answered = nextLine(lines);
      const { rpc, tokens } = paidOn();
      buyer.stdin.write(`${JSON.stringify({ key, url, rpc, allowed: tokens.USDT })}\n`);
      return JSON.parse(await answered) as Bought;
    },
    close: () => end(buyer),
  };
}

async function nextLine(lines: Interface): Promise<string> {
  const [line] = (await once(lines, 'line', { signal: AbortSignal.timeout(limitMs) })) as [string];
  return line;
}

async function end(started: ChildProcess): Promise<void> {
  if (started.exitCode !== null) return;
  const ended = once(started, 'exit');
  started.kill();
  await ended;
}
