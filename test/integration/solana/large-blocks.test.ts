import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { verifyLedger } from '../../../src/ledger/verify';
import { createAssociated, sol, transferSol, transferToken } from '../../solana-chain';
import { createSolanaFixture } from './fixture';

/** Deposits from blocks that are read in a thread. */

/** Shows blocks with more in them, which nobody reads; nothing else is changed. */
async function padBlocks(node: string, paddingBytes: number) {
  let padded = 0;
  const server = createServer((request, response) => {
    void text(request)
      .then(async (body) => {
        const headers = { 'content-type': 'application/json' };
        const answer = (await (await fetch(node, { method: 'POST', headers, body })).json()) as {
          result?: { transactions?: [] };
        };
        if (answer.result?.transactions) {
          Object.assign(answer.result, { padding: 'x'.repeat(paddingBytes) });
          padded += 1;
        }
        response.end(JSON.stringify(answer));
      })
      .catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, padded: () => padded, close: () => server.close() };
}

test('SOL and USDC of one transaction are credited once', async () => {
  let shown: Awaited<ReturnType<typeof padBlocks>> | undefined;
  const fixture = await createSolanaFixture({ route: async (node) => (shown = await padBlocks(node, 300_000)).url });
  try {
    const { solana, alice, balance, database, follow, inbound, mine } = fixture;
    const payer = await solana.funded(sol(10), 50_000_000n);
    const signed = await solana.sign(payer, [
      transferSol(payer.address, alice.address, sol(1.5)),
      await createAssociated(payer.address, alice.address),
      await transferToken(payer.address, alice.address, 2_500_000n),
    ]);
    await solana.send(signed);
    await mine(20);
    await Promise.all([follow(), follow()]);
    const found = (await inbound()).map(({ status, token_symbol: symbol, amount }) => [status, symbol, amount]);
    expect(found.sort()).toEqual([
      ['CONFIRMED', 'SOL', String(sol(1.5))],
      ['CONFIRMED', 'USDC', '2500000'],
    ]);
    expect(await balance(alice, 'SOL')).toEqual({ available: sol(1.5), locked: 0n });
    expect(await balance(alice, 'USDC')).toEqual({ available: 2_500_000n, locked: 0n });
    expect(await verifyLedger(database.manager)).toEqual([]);
    expect(shown?.padded()).toBeGreaterThan(10);
  } finally {
    await fixture.close();
    shown?.close();
  }
});
