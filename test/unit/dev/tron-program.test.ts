import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SimulatorClient, simulatorCommand } from '../../../dev/tron/stack';
import { freePort } from '../../../dev/ports';
import { until } from '../../../dev/processes';
import { newHolder, trx } from '../../tron-simulator';

let folder: string;
let child: ChildProcess;
let client: SimulatorClient;

async function start(): Promise<void> {
  const port = await freePort();
  client = new SimulatorClient(`http://127.0.0.1:${port}`);
  const command = simulatorCommand({ port, blockMs: 50, solidLag: 3, stateFile: path.join(folder, 'chain.json') });
  child = spawn(command.command, command.args, { env: command.env, stdio: 'ignore' });
  const isReady = () =>
    client.status().then(
      () => true,
      () => false,
    );
  expect(await until(isReady, 30_000)).toBe(true);
}

async function end(signal: NodeJS.Signals): Promise<unknown> {
  const ended = once(child, 'exit');
  child.kill(signal);
  return (await ended)[0];
}

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'simulated-tron-'));
  await start();
});
afterEach(async () => {
  if (child.exitCode === null && child.signalCode === null) await end('SIGKILL');
  rmSync(folder, { recursive: true });
});

const balanceOf = async (address: string): Promise<unknown> => {
  const request = { method: 'POST', body: JSON.stringify({ address, visible: true }) };
  const response = await fetch(`${client.url}/wallet/getaccount`, request);
  return ((await response.json()) as { balance?: number }).balance;
};

test('a process that is ended or killed continues with its blocks', async () => {
  const { address } = newHolder();
  await client.fund(address, trx(3));
  expect(await client.fundToken('USDT', address, 5n)).toMatch(/^[0-9a-f]{64}$/);
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const { head } = await client.status();
    expect(await end(signal)).toBe(signal === 'SIGTERM' ? 0 : null);
    await start();
    expect((await client.status()).head).toBeGreaterThanOrEqual(head);
    expect(await balanceOf(address)).toBe(3_000_000);
  }
});

test('faults as on the other local chains', async () => {
  const [first, second] = [newHolder(), newHolder()];
  await client.faults.delay();
  const id = await client.fund(first.address, trx(3));
  await client.fund(second.address, trx(4));
  const { head, pending } = await client.status();
  expect(pending).toBe(2);
  await client.faults.drop(id);
  await expect(client.faults.drop(id)).rejects.toThrow('no such transaction waits for a block');
  await client.faults.mine(1);
  expect((await client.status()).head).toBe(head + 1);
  expect([await balanceOf(first.address), await balanceOf(second.address)]).toEqual([undefined, 4_000_000]);
  await client.faults.reorganise(1);
  expect(await balanceOf(second.address)).toBeUndefined();
  await client.faults.resume();
  expect(await until(async () => (await client.status()).head > head + 2, 10_000)).toBe(true);
  await expect(client.fund('T', 1n)).rejects.toThrow();
});
