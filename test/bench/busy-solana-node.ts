import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { toBase58 } from '../../src/chains/solana/codec/base58';
import { round } from './load';

/** As in a busy block of mainnet: of 1,200 transactions each has 25 accounts, three of which have more SOL and four another amount of a token. */
export const busy = { transactions: 1_200, accounts: 25, tokens: 4 };

/** Slot of the first block, which is empty. */
const first = 100;

/** A node of Solana with the same transactions in every block, in both forms; it executes nothing. What it is asked it answers `awayMs` later. */
export async function startBusyNode(count: number, awayMs: number) {
  const decode = (number: number): Buffer => {
    const bytes = Buffer.alloc(32, 0xa5);
    bytes.writeUInt32BE(number, 4);
    return bytes;
  };
  const names = new Map<number, string>();
  const name = (number: number): string => {
    const made = names.get(number) ?? toBase58(decode(number));
    names.set(number, made);
    return made;
  };
  const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
  const transactions = Array.from({ length: busy.transactions }, (_, at) => {
    // most programs and pools are in many transactions
    const keys = Array.from({ length: busy.accounts }, (_key, index) =>
      index < 10 ? at * 10 + index : 1_000_000 + ((at * 7 + index) % 400),
    );
    const balances = (side: number) =>
      keys.map((_key, index) => 1_000_000_000 + index * 2_039_280 + (index > 0 && index < 4 ? side * 5_000 : 0));
    const tokens = (side: number) =>
      Array.from({ length: busy.tokens }, (_token, index) => ({
        ...{
          accountIndex: index + 4,
          mint,
          owner: name(keys[index] as number),
          programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
        },
        uiTokenAmount: {
          amount: String(10_000_000 + side * (index - 2) * 50),
          decimals: 6,
          uiAmount: 10.5,
          uiAmountString: '10.500123',
        },
      }));
    const simple = {
      ...{ err: null, status: { Ok: null }, fee: 5_000, preBalances: balances(0), postBalances: balances(1) },
      ...{ preTokenBalances: tokens(0), postTokenBalances: tokens(1) },
    };
    const signature = Buffer.alloc(64, 0x5a);
    signature.writeUInt32BE(at, 4);
    const message = Buffer.concat([
      Buffer.from([0x80, 1, 0, 2, busy.accounts]),
      ...keys.map(decode),
      Buffer.alloc(32, 7),
      // instructions
      Buffer.alloc(250, 9),
    ]);
    const log = Array.from(
      { length: 20 },
      (_log, index) => `Program ${name(keys[index] as number)} consumed ${index * 1_001} of 200000 compute units`,
    );
    const inner = [
      {
        index: 2,
        instructions: Array.from({ length: 12 }, (_i, index) => ({
          programIdIndex: index,
          accounts: [1, 2, 3, 4, 5, 6],
          data: '3Bxs4h24hBtQy9rw3Bxs4h24hBtQy9rw',
          stackHeight: 2,
        })),
      },
    ];
    return {
      accounts: {
        transaction: {
          signatures: [toBase58(signature)],
          accountKeys: keys.map((key, index) => ({
            pubkey: name(key),
            writable: index < 12,
            signer: index === 0,
            source: 'transaction',
          })),
        },
        meta: simple,
        version: 0,
      },
      full: {
        transaction: [Buffer.concat([Buffer.from([1]), signature, message]).toString('base64'), 'base64'],
        meta: {
          ...simple,
          innerInstructions: inner,
          logMessages: log,
          loadedAddresses: { writable: [], readonly: [] },
          computeUnitsConsumed: 90_000,
        },
        version: 0,
      },
    };
  });
  const bodies = new Map(
    (['full', 'accounts'] as const).map(
      (form) => [form, Buffer.from(JSON.stringify(transactions.map((it) => it[form])).slice(1))] as const,
    ),
  );
  const sizes = {
    full_mb: round((bodies.get('full') as Buffer).length / 1e6),
    accounts_mb: round((bodies.get('accounts') as Buffer).length / 1e6),
  };
  let head = first;
  const hash = (slot: number) => name(0xf0000000 + slot);
  const header = (slot: number) =>
    JSON.stringify({
      blockhash: hash(slot),
      previousBlockhash: hash(slot - 1),
      parentSlot: slot - 1,
      blockHeight: slot,
      blockTime: 1_800_000_000,
    });
  const answer = (method: string, params: unknown[]): Buffer => {
    const result = (value: unknown) => Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: value }));
    const [from, second] = params as [number, number];
    switch (method) {
      case 'getGenesisHash':
        return result(name(1));
      case 'getSlot':
        return result(head);
      case 'getFirstAvailableBlock':
        return result(first);
      case 'getRecentPrioritizationFees':
        return result([{ slot: head, prioritizationFee: 20_000 }]);
      case 'getBlocks':
        return result(Array.from({ length: Math.max(0, Math.min(second, head) - from + 1) }, (_, index) => from + index));
      case 'getBlock': {
        const { transactionDetails: details } = params[1] as { transactionDetails: 'full' | 'accounts' | 'none' };
        const start = `{"jsonrpc":"2.0","id":1,"result":${header(from).slice(0, -1)}`;
        const body = from === first ? undefined : bodies.get(details as 'full');
        return body
          ? Buffer.concat([Buffer.from(`${start},"transactions":[`), body, Buffer.from('}}')])
          : Buffer.from(details === 'none' ? `${start}}}` : `${start},"transactions":[]}}`);
      }
      default:
        return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32_601, message: method } }));
    }
  };
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      await delay(awayMs);
      const { method, params } = JSON.parse(body) as { method: string; params: unknown[] };
      response.end(answer(method, params));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sizes,
    head: () => head,
    grow: () => (head = first + count),
    close: () => server.close(),
  };
}
