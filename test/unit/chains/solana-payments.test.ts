import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import type { Payment } from '../../../src/chains/payments';
import { solana } from '../../../src/chains/registry/solana';
import { SolanaPaymentClient } from '../../../src/chains/solana/payments/client';
import { readOffered } from '../../../src/chains/solana/payments/offered';
import { isSignedBy } from '../../../src/chains/solana/payments/signed-by';
import type { ChainDefinition, JsonValue, TokenDefinition } from '../../../src/chains/types';

/** Legacy: two signers, the payer read-only; one instruction of the third key, with both others. */
const message = Buffer.concat([
  Buffer.from([2, 1, 1, 3]),
  ...[1, 2, 3].map((fill) => Buffer.alloc(32, fill)),
  Buffer.alloc(32, 4),
  Buffer.from([1, 2, 2, 0, 1, 1, 7]),
]);
const wire = (body: Buffer, count: number[] = [2]): string =>
  Buffer.concat([Buffer.from(count), Buffer.alloc(128, 5), body]).toString('base64');
const changed = (at: number, value: number): Buffer => {
  const bytes = Buffer.from(message);
  bytes[at] = value;
  return bytes;
};

describe('a transaction that somebody offers', () => {
  it('is read as its bytes say it', () => {
    const [settler, payer, program] = [1, 2, 3].map((fill) => Buffer.alloc(32, fill));
    expect(readOffered(wire(message))).toEqual({
      transaction: {
        signatures: [Buffer.alloc(64, 5), Buffer.alloc(64, 5)],
        message,
        keys: [settler, payer, program],
        blockhash: Buffer.alloc(32, 4),
        instructions: [{ program, accounts: [settler, payer], data: Buffer.from([7]) }],
      },
    });
    const versioned = Buffer.concat([Buffer.from([0x80]), message, Buffer.from([0])]);
    expect(readOffered(wire(versioned))).toMatchObject({ transaction: { message: versioned } });
  });

  it.each<[string, unknown]>([
    ['no text', 1],
    ['nothing', ''],
    ['Base64 without padding', Buffer.alloc(4).toString('base64url')],
    ['text around Base64', ` ${wire(message)}`],
    ['more than a packet', Buffer.alloc(1_233).toString('base64')],
    ['a number of signatures in a longer form', wire(message, [0x82, 0])],
    ['a number of signatures that has no end', wire(message, [0x82, 0x80, 0x80])],
    ['more signers than signatures', wire(changed(0, 3))],
    ['no signer who may be changed', wire(changed(1, 2))],
    ['more read-only accounts than there are', wire(changed(2, 2))],
    ['the fee payer as a program', wire(changed(133, 0))],
    ['a program that is not there', wire(changed(133, 3))],
    ['an account that is not there', wire(changed(136, 9))],
    ['another version', wire(Buffer.concat([Buffer.from([0x81]), message, Buffer.from([0])]))],
    ['a byte behind', wire(Buffer.concat([message, Buffer.from([0])]))],
    ['a byte too few', wire(message.subarray(0, -1))],
    ['version 0 without the number of its tables', wire(Buffer.concat([Buffer.from([0x80]), message]))],
  ])('%s is none', (_, text) => {
    expect(readOffered(text)).toEqual({ refused: 'malformed' });
  });

  it('with lookup tables is told apart', () => {
    const table = Buffer.concat([Buffer.from([1]), Buffer.alloc(32, 9), Buffer.from([1, 0, 0])]);
    expect(readOffered(wire(Buffer.concat([Buffer.from([0x80]), changed(136, 3), table])))).toEqual({ refused: 'tables' });
  });

  it('of any bytes never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1_300 }), (bytes) => void readOffered(Buffer.from(bytes).toString('base64'))),
    );
    fc.assert(fc.property(fc.nat(message.length - 1), fc.nat(255), (at, value) => void readOffered(wire(changed(at, value)))));
  });
});

/** SHA-512, little-endian (RFC 8032). */
const hashToNumber = (bytes: Buffer): bigint =>
  BigInt(`0x${createHash('sha512').update(bytes).digest().reverse().toString('hex')}`);

describe('a signature', () => {
  const secret = Buffer.alloc(32, 6);
  const key = Buffer.from(ed25519.getPublicKey(secret));
  const signature = Buffer.from(ed25519.sign(message, secret));

  it('is of one key, one message and in one form', () => {
    expect(isSignedBy(key, signature, message)).toBe(true);
    expect(isSignedBy(Buffer.from(ed25519.getPublicKey(Buffer.alloc(32, 7))), signature, message)).toBe(false);
    expect(isSignedBy(key, signature, changed(9, 9))).toBe(false);
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const half = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + order;
    const other = Buffer.from(half.toString(16).padStart(64, '0'), 'hex').reverse();
    expect(isSignedBy(key, Buffer.concat([signature.subarray(0, 32), other]), message)).toBe(false);
    expect(isSignedBy(key, Buffer.alloc(64), message)).toBe(false);
  });

  it('of a key that signs anything is none', () => {
    // the neutral element: what fits one message fits all
    const neutral = Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]);
    const first = ed25519.Point.BASE.multiply(5n).toBytes();
    const any = Buffer.concat([first, Buffer.from([5]), Buffer.alloc(31)]);
    expect(ed25519.verify(any, message, neutral, { zip215: true })).toBe(true);
    expect(isSignedBy(neutral, any, message)).toBe(false);
  });

  it('of a first half that anybody may choose is none', () => {
    // r = 0: the key's owner can make it, and the network does not take it
    const neutral = Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]);
    const { scalar } = ed25519.utils.getExtendedPublicKey(secret);
    const { Fn } = ed25519.Point;
    const challenge = Fn.create(hashToNumber(Buffer.concat([neutral, key, message])));
    const s = Fn.toBytes(Fn.mul(challenge, scalar));
    const weak = Buffer.concat([neutral, s]);
    expect(ed25519.verify(weak, message, key, { zip215: true })).toBe(true);
    expect(isSignedBy(key, weak, message)).toBe(false);
  });
});

describe('a simulation', () => {
  const chain = solana.local[0] as ChainDefinition;
  const token = chain.tokens[0] as TokenDefinition;
  const payment = { signature: '0x0102', token } as Partial<Payment> as Payment;
  let server: Server;
  let answer: JsonValue;
  let asked: JsonValue[];

  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { method, params } = JSON.parse(body) as { method: string; params: JsonValue[] };
        if (method === 'simulateTransaction') asked.push(params);
        const context = { slot: 1 };
        const results: Record<string, JsonValue> = {
          simulateTransaction: { context, value: answer },
          getMultipleAccounts: { context, value: [null, null] },
        };
        response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: results[method] ?? '1'.repeat(32) }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const simulate = () =>
    new SolanaPaymentClient(chain, [`http://127.0.0.1:${(server.address() as AddressInfo).port}`]).simulate(payment);

  it('is of confirmed state, without signatures, and with the block that the payer has named', async () => {
    answer = { err: null, unitsConsumed: 9 };
    expect(await simulate()).toEqual({ payment });
    const options = { commitment: 'confirmed', encoding: 'base64', sigVerify: false, replaceRecentBlockhash: false };
    expect(asked).toEqual([['AQI=', options]]);
  });

  it.each<[JsonValue]>([
    ['BlockhashNotFound'],
    [{ InstructionError: [2, { Custom: 1 }] }],
    [{ InsufficientFundsForRent: { account_index: 2 } }],
  ])('that fails with %j is the payment’s fault', async (err) => {
    answer = { err, unitsConsumed: 0 };
    expect(await simulate()).toEqual({ reason: 'invalid_exact_svm_transaction_simulation_failed' });
  });

  it.each<[JsonValue]>([['AccountNotFound'], ['InsufficientFundsForFee'], [{ InsufficientFundsForRent: { account_index: 0 } }]])(
    'that fails with %j is the settler’s: it says nothing about the payment',
    async (err) => {
      answer = { err, unitsConsumed: 0 };
      await expect(simulate()).rejects.toMatchObject({ code: 'chain_unavailable' });
    },
  );

  it('that is not answered says nothing about the payment', async () => {
    answer = 'soon';
    await expect(simulate()).rejects.toMatchObject({ code: 'chain_unavailable' });
  });
});
