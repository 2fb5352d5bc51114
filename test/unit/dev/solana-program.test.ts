import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSolanaRpc, generateKeyPairSigner } from '@solana/kit';
import { freePort } from '../../../dev/ports';
import { until } from '../../../dev/processes';
import { LocalChainClient, localChainCommand } from '../../../dev/solana/stack';
import { sol } from '../../solana-chain';

let folder: string;
let child: ChildProcess;
let client: LocalChainClient;

async function start(): Promise<void> {
  const port = await freePort();
  client = new LocalChainClient(`http://127.0.0.1:${port}`);
  const stateFile = path.join(folder, 'chain.json');
  // slots are the test's own: by the clock, blocks must not get out of the reach of its forks, on a busy machine either
  const command = localChainCommand({ port, slotMs: 500, confirmed: 20, finalized: 30, stateFile });
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
  folder = mkdtempSync(path.join(tmpdir(), 'local-solana-'));
  await start();
});
afterEach(async () => {
  if (child.exitCode === null && child.signalCode === null) await end('SIGKILL');
  rmSync(folder, { recursive: true });
});

const balanceOf = async (key: Awaited<ReturnType<typeof generateKeyPairSigner>>) =>
  (await createSolanaRpc(client.url).getBalance(key.address, { commitment: 'processed' }).send()).value;

test('a process that is ended or killed continues with its blocks and accounts, and with what can be taken back', async () => {
  const [kept, forked] = [await generateKeyPairSigner(), await generateKeyPairSigner()];
  const id = await client.fund(kept.address, sol(3));
  await client.fundToken('USDC', kept.address, 5n);
  await client.faults.mine(25);
  await client.fund(forked.address, sol(1));
  await client.faults.delay();
  await client.faults.mine(1);
  await client.faults.reorganise(15);
  expect(await balanceOf(forked)).toBe(0n);
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const { head } = await client.status();
    expect(await end(signal)).toBe(signal === 'SIGTERM' ? 0 : null);
    await start();
    expect((await client.status()).head).toBeGreaterThanOrEqual(head);
    expect([await balanceOf(kept), await balanceOf(forked)]).toEqual([sol(3), 0n]);
    const rpc = createSolanaRpc(client.url);
    const [status] = (await rpc.getSignatureStatuses([id as never], { searchTransactionHistory: true }).send()).value;
    expect(status?.err).toBeNull();
  }
  const last = await generateKeyPairSigner();
  await client.fund(last.address, sol(2));
  expect(await end('SIGKILL')).toBeNull();
  await start();
  await client.faults.delay();
  expect(await balanceOf(last)).toBe(sol(2));
  await client.faults.reorganise(18);
  expect([await balanceOf(kept), await balanceOf(last)]).toEqual([sol(3), 0n]);
});

test('faults as on the other local chains', async () => {
  const [first, second] = [await generateKeyPairSigner(), await generateKeyPairSigner()];
  await client.faults.delay();
  const id = await client.fund(first.address, sol(3));
  await client.fund(second.address, sol(3));
  expect((await client.status()).pending).toBe(2);
  await client.faults.drop(id);
  await expect(client.faults.drop(id)).rejects.toThrow('no such transaction waits for a block');
  await client.faults.mine(1);
  expect([await balanceOf(first), await balanceOf(second)]).toEqual([0n, sol(3)]);
  const { head } = await client.status();
  await client.faults.resume();
  expect(await until(async () => (await client.status()).head > head + 2, 10_000)).toBe(true);
  await expect(client.fund('T', 1n)).rejects.toThrow();
  await expect(client.fund(first.address, 1n)).rejects.toThrow('InsufficientFundsForRent');
});
