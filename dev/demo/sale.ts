import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { fund } from '../fund';
import { projectRoot } from '../paths';
import { until } from '../processes';
import type { StackFile } from '../stack-file';
import type { ScenarioOutput } from './scenario';

const chain = 'base';
const script = (name: string): string => path.join(projectRoot, 'examples', 'x402-seller', name);
const limits = { settlersMs: 300_000, sellerMs: 30_000, buyerMs: 120_000 };

/**
 * Runs examples/x402-seller: a resource is sold over HTTP 402, and the gateway settles the payment.
 * @param readStack the stack as it is now: its settlers come later than the rest
 * @throws Error when nothing was sold.
 */
export async function runSale(readStack: () => StackFile, { step, print }: ScenarioOutput): Promise<void> {
  step('x402: a report is sold for 0.01 USDC, by a server that has the gateway settle its payments');
  if (!(await until(() => readStack().settlers[chain] !== undefined, limits.settlersMs, 500)))
    throw new Error(`there was no settler on ${chain} within ${limits.settlersMs / 1000} s`);
  const stack = readStack();
  print(`settler ${stack.settlers[chain]} pays the network's fees`);
  const [seller, buyer] = [generatePrivateKey(), generatePrivateKey()];
  const buyerAddress = privateKeyToAccount(buyer).address;
  print(`the buyer ${buyerAddress} has 1 USDC and no coins: ${await fund(stack, chain, 'USDC', buyerAddress, '1')}`);
  const { url, end } = await startSeller(stack, privateKeyToAccount(seller).address);
  print(`examples/x402-seller/seller.mjs sells ${url}`);
  try {
    for (const line of await buy(buyer, url)) print(line);
  } finally {
    end();
  }
}

async function startSeller({ base_url: baseUrl, clients }: StackFile, payTo: string): Promise<{ url: string; end: () => void }> {
  const [client] = clients;
  if (!client) throw new Error('the stack has no client');
  const { api_key: key, api_secret: secret } = client;
  const variables = { GATEWAY_URL: baseUrl, API_KEY: key, API_SECRET: secret, PAY_TO: payTo, PORT: '0' };
  const seller = spawn(process.execPath, [script('seller.mjs')], {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { url: await firstLine(seller), end: () => seller.kill() };
}

async function firstLine(seller: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  const signal = AbortSignal.timeout(limits.sellerMs);
  // its output ends with it, and so do the lines
  for await (const line of createInterface({ input: seller.stdout, signal })) return line;
  throw new Error(`the seller did not start within ${limits.sellerMs / 1000} s`);
}

/** What the buyer has printed. */
function buy(key: string, url: string): Promise<string[]> {
  const options = { env: { ...process.env, BUYER_KEY: key }, timeout: limits.buyerMs };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [script('buyer.mjs'), url], options, (error, stdout, stderr) =>
      error ? reject(new Error(`the buyer has got nothing: ${stdout}${stderr}`)) : resolve(stdout.trim().split('\n')),
    );
  });
}
