import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { decode, encode, maxPrice, maxUnits } from '../../../src/chains/solana/codec/transaction';
import type { UnsignedTransaction } from '../../../src/chains/solana/codec/unsigned';
import { toInstructions } from '../../../src/chains/solana/codec/instructions';
import { type Instruction, readMessage, writeLength, writeMessage } from '../../../src/chains/solana/codec/message';
import { createReader } from '../../../src/chains/solana/codec/reader';
import { programs } from '../../../src/chains/solana/codec/programs';
import { signatureFee } from '../../../src/chains/solana/fees';
import type { Hex, TransactionIntent } from '../../../src/chains/types';
import { buildSolana, planOf, signMessage, solanaChain, solanaCodec, transactions, usdcMint } from '../../solana';

const key = Buffer.alloc(32, 0x88);
const owner = Buffer.from(ed25519.getPublicKey(key));
const { address: from } = solanaCodec.address(owner);
const recipientKey = Buffer.from(ed25519.getPublicKey(Buffer.alloc(32, 0x99)));
const { address: to } = solanaCodec.address(recipientKey);

const sol = (amount: bigint, memo?: string): TransactionIntent => ({
  from,
  outputs: [{ recipient: to, tokenContract: null, amount }],
  ...(memo !== undefined && { memo }),
});
const usdc = (amount: bigint, memo?: string): TransactionIntent => ({
  ...sol(amount, memo),
  outputs: [{ recipient: to, tokenContract: usdcMint, amount }],
});
const hex = (bytes: Buffer): Hex => `0x${bytes.toString('hex')}`;
const raw = (text: Hex): Buffer => Buffer.from(text.slice(2), 'hex');

describe('what is described', () => {
  it.each([
    ['SOL', sol(5n), signatureFee + 400n],
    ['SOL with a memo', sol(5n, 'for you'), signatureFee + 400n],
    ['a token, whose account is created', usdc(6n, 'for you'), signatureFee + 400n + 2_039_280n],
  ])('%s: what was planned, and is recovered', (_, intent, maxNetworkFee) => {
    const plan = planOf(intent);
    const unsigned = solanaCodec.build(plan);
    expect(solanaCodec.describe(unsigned)).toEqual({
      ...{ chain: solanaChain.caip2, action: 'payment', outputs: intent.outputs, resources: [], maxNetworkFee },
      ...(intent.memo && { memo: intent.memo }),
    });
    const { expiry, ...recovered } = solanaCodec.recover(unsigned, 3_000_000n);
    expect({ ...recovered, expiry: { ...expiry, slot: 3_000, lastValidBlockHeight: 3_090 } }).toEqual(plan.prepared);
    expect(solanaCodec.build({ ...plan, prepared: { ...recovered, expiry } })).toBe(unsigned);
  });

  it('a token whose account is there costs no rent, and its recipient is in the bytes', () => {
    const unsigned = buildSolana(usdc(6n), { token: { program: 'token-2022', decimals: 6, creates: false } });
    expect(solanaCodec.describe(unsigned)).toMatchObject({ outputs: usdc(6n).outputs, maxNetworkFee: signatureFee + 400n });
  });

  it.each([
    [1, 1n, 1n],
    [1_000_000 / 4, 4n, 1n],
    [250_001, 4n, 2n],
    [maxUnits, maxPrice, 1_500_000n],
  ])('%d units at %s millionths cost %s lamports', (units, price, fee) => {
    expect(solanaCodec.describe(buildSolana(sol(1n), { units, price })).maxNetworkFee).toBe(signatureFee + fee);
  });

  it('decode(encode(x)) is x', () => {
    fc.assert(
      fc.property(transactions, (transaction) => {
        expect(decode(encode(transaction))).toEqual(transaction);
      }),
    );
  });

  it('a byte that is changed, missing or added is refused or means something else', () => {
    const facts = (transaction: UnsignedTransaction) =>
      JSON.stringify(transaction, (_, it: unknown) => (typeof it === 'bigint' ? `${it}` : it));
    const means = (bytes: Buffer): string | null => {
      try {
        return facts(decode(hex(bytes)));
      } catch {
        return null;
      }
    };
    fc.assert(
      fc.property(transactions, fc.nat(), fc.integer({ min: 1, max: 255 }), (transaction, at, change) => {
        const bytes = raw(encode(transaction));
        const index = at % bytes.length;
        const [before, after] = [bytes.subarray(0, index), bytes.subarray(index + 1)];
        const byte = bytes[index] as number;
        for (const others of [[byte ^ change], [], [byte, change], [change, byte]]) {
          const changed = Buffer.concat([before, Buffer.from(others), after]);
          if (!changed.equals(bytes)) expect(means(changed)).not.toBe(facts(transaction));
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('signatures', () => {
  const unsigned = buildSolana(usdc(7n));
  const good = signMessage(unsigned, key);

  it('are over the message itself, whose hash identifies the attempt', () => {
    const digest = createHash('sha256').update(raw(unsigned)).digest('hex');
    expect(solanaCodec.signingPayloads(unsigned, from)).toEqual([
      { signer: owner.toString('hex'), digest: `0x${digest}`, message: unsigned },
    ]);
    expect(solanaCodec.messageKey(unsigned, from)).toBe(digest);
    expect(solanaCodec.assemble(unsigned, [good], from).bytes).toBe(`0x01${good.slice(2)}${unsigned.slice(2)}`);
  });

  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const s = BigInt(`0x${raw(good).subarray(32).reverse().toString('hex')}`) + order;
  const unreduced = Buffer.concat([raw(good).subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()]);

  it.each<[string, Hex[]]>([
    ['of another key', [signMessage(unsigned, Buffer.alloc(32, 7))]],
    ['over something else', [signMessage('0x11', key)]],
    ['over the digest', [signMessage(`0x${solanaCodec.messageKey(unsigned, from)}`, key)]],
    ['with s above the order', [hex(unreduced)]],
    ['that is too short', [good.slice(0, -2) as Hex]],
    ['twice', [good, good]],
    ['of none', []],
  ])('a signature %s is refused', (_, signatures) => {
    expect(() => solanaCodec.assemble(unsigned, signatures, from)).toThrow();
  });

  it('bytes of another sender are not signed', () => {
    for (const sender of [to, 'nobody']) {
      expect(() => solanaCodec.signingPayloads(unsigned, sender)).toThrow('another sender');
      expect(() => solanaCodec.assemble(unsigned, [good], sender)).toThrow('another sender');
      expect(() => solanaCodec.messageKey(unsigned, sender)).toThrow('another sender');
    }
  });
});

describe('what is not signed', () => {
  const token = { program: 'token' as const, decimals: 6, creates: true };
  const payment = decode(buildSolana(usdc(7n, 'memo')));
  const [limit, price, creation, memo, transfer] = toInstructions(payment) as [
    Instruction,
    Instruction,
    Instruction,
    Instruction,
    Instruction,
  ];
  const message = (...instructions: Instruction[]): Buffer => writeMessage(owner, payment.blockhash, instructions);
  const solTransfer = toInstructions(decode(buildSolana(sol(7n)))).at(-1) as Instruction;
  const stranger = Buffer.from(ed25519.getPublicKey(Buffer.alloc(32, 1)));
  const other = (instruction: Instruction, changes: Partial<Instruction>): Instruction => ({ ...instruction, ...changes });
  const at = (instruction: Instruction, index: number, by: Buffer): Instruction =>
    other(instruction, {
      accounts: instruction.accounts.map((it, position) => (position === index ? { ...it, key: by } : it)),
    });

  it('the payment that the following ones are changes of is', () => {
    expect(decode(hex(message(limit, price, creation, memo, transfer)))).toEqual(payment);
  });

  const data = (text: string) => Buffer.from(text, 'hex');
  it.each<[string, Instruction[]]>([
    ['without a limit', [price, creation, memo, transfer]],
    ['without a price', [limit, creation, memo, transfer]],
    ['in another order', [price, limit, creation, memo, transfer]],
    ['with a heap frame', [limit, price, other(price, { data: data('0100800000') }), creation, memo, transfer]],
    ['with a limit twice', [limit, limit, price, creation, memo, transfer]],
    ['with the memo at its end', [limit, price, creation, transfer, memo]],
    ['with two memos', [limit, price, creation, memo, memo, transfer]],
    ['with an empty memo', [limit, price, creation, other(memo, { data: data('') }), transfer]],
    ['with a memo that is no text', [limit, price, creation, other(memo, { data: data('ff') }), transfer]],
    ['with a memo of 401 bytes', [limit, price, creation, other(memo, { data: Buffer.alloc(401, 'x') }), transfer]],
    [
      'with a memo that names a signer',
      [limit, price, creation, other(memo, { accounts: [{ key: owner, isWritable: false }] }), transfer],
    ],
    ['without a transfer', [limit, price, creation, memo]],
    ['with two transfers', [limit, price, creation, memo, transfer, transfer]],
    ['with a transfer of SOL too', [limit, price, creation, memo, transfer, solTransfer]],
    ['with two creations', [limit, price, creation, creation, memo, transfer]],
    ['with a creation that must not find an account', [limit, price, other(creation, { data: data('00') }), memo, transfer]],
    ['with a creation for somebody else', [limit, price, at(creation, 2, stranger), memo, transfer]],
    ['with a creation of another account', [limit, price, at(creation, 1, stranger), memo, transfer]],
    ['with a creation for another token', [limit, price, at(creation, 3, stranger), memo, transfer]],
    ['of SOL with a creation', [limit, price, creation, memo, solTransfer]],
    ['from the account of somebody else', [limit, price, creation, memo, at(transfer, 0, stranger)]],
    ['to another account', [limit, price, creation, memo, at(transfer, 2, stranger)]],
    ['of somebody else', [limit, price, creation, memo, at(transfer, 3, stranger)]],
    ['of another token than its accounts', [limit, price, creation, memo, at(transfer, 1, stranger)]],
    [
      'by another token program than its accounts',
      [limit, price, creation, memo, other(transfer, { program: programs.token2022 })],
    ],
    ['by an unknown program', [limit, price, creation, memo, other(transfer, { program: stranger })]],
    ['by transfer', [limit, price, creation, memo, other(transfer, { data: data('030700000000000000') })]],
    ['that approves', [limit, price, creation, memo, other(transfer, { data: data('0d070000000000000006') })]],
    ['that closes the account', [limit, price, creation, memo, other(transfer, { data: data('09') })]],
    ['that names nobody', [limit, price, memo, transfer]],
    [
      'with one account more',
      [limit, price, creation, memo, other(transfer, { accounts: [...transfer.accounts, ...creation.accounts] })],
    ],
    ['of SOL by an assignment', [limit, price, other(solTransfer, { data: data('01000000070000000000000000') })]],
    ['of SOL from somebody else', [limit, price, at(solTransfer, 0, stranger)]],
    ['of SOL to the sender', [limit, price, at(solTransfer, 1, owner)]],
    ['of SOL to a program', [limit, price, at(solTransfer, 1, programs.token)]],
    ['of nothing', [limit, price, other(solTransfer, { data: data('020000000000000000000000') })]],
    ['of nothing of a token', [limit, price, creation, memo, other(transfer, { data: data('0c000000000000000006') })]],
    ['with too many units', [other(limit, { data: data(`02${u32(maxUnits + 1)}`) }), price, solTransfer]],
    ['with no units', [other(limit, { data: data('0200000000') }), price, solTransfer]],
    ['with too high a price', [limit, other(price, { data: data(`03${u64(maxPrice + 1n)}`) }), solTransfer]],
  ])('a message %s', (_, instructions) => {
    expect(() => decode(hex(message(...instructions)))).toThrow();
  });

  const bytes = message(limit, price, creation, memo, transfer);
  const keys = bytes[4] as number;
  const keyAt = (index: number): Buffer => bytes.subarray(5 + 32 * index, 37 + 32 * index);
  const swapped = Buffer.concat([bytes.subarray(0, 37), keyAt(2), keyAt(1), bytes.subarray(5 + 32 * 3)]);
  const withHeader = (index: number, value: number): Buffer => {
    const changed = Buffer.from(bytes);
    changed[index] = value;
    return changed;
  };
  it.each<[string, Buffer]>([
    ['of version 1', withHeader(0, 0x81)],
    ['without a version', bytes.subarray(1)],
    ['with two signers', withHeader(1, 2)],
    ['with a payer that is not writable', withHeader(2, 1)],
    ['with other writable accounts', withHeader(3, (bytes[3] as number) - 1)],
    ['with accounts in another order', swapped],
    [
      'with an account twice',
      Buffer.concat([bytes.subarray(0, 4), Buffer.from([keys + 1]), bytes.subarray(5, 37), bytes.subarray(5)]),
    ],
    [
      'with a lookup table',
      Buffer.concat([bytes.subarray(0, -1), Buffer.from([1]), Buffer.alloc(32, 1), Buffer.from([1, 0, 0])]),
    ],
    ['with a long form of a length', Buffer.concat([bytes.subarray(0, 4), Buffer.from([keys | 128, 0]), bytes.subarray(5)])],
    ['with a byte more', Buffer.concat([bytes, Buffer.from([0])])],
    ['with its end missing', bytes.subarray(0, -1)],
    ['of nothing', Buffer.alloc(0)],
    ['of too many bytes', Buffer.concat([bytes, Buffer.alloc(1_232)])],
  ])('bytes %s', (_, changed) => {
    expect(() => decode(hex(changed))).toThrow();
  });

  it('text that is no lower-case hex', () => {
    expect(() => decode(hex(bytes).toUpperCase() as Hex)).toThrow();
    expect(() => decode(bytes.toString('hex') as Hex)).toThrow();
  });

  it.each<[string, () => Hex]>([
    ['two outputs', () => buildSolana({ ...sol(1n), outputs: [...sol(1n).outputs, ...sol(2n).outputs] })],
    ['no output', () => buildSolana({ ...sol(1n), outputs: [] })],
    ['a cancellation', () => solanaCodec.build({ ...planOf(sol(1n)), kind: 'cancellation' })],
    ['a replacement', () => solanaCodec.build({ ...planOf(sol(1n)), kind: 'replacement' })],
    ['a resource', () => solanaCodec.build({ ...planOf(sol(1n)), resources: ['1'] })],
    ['SOL in place of a token', () => buildSolana(sol(1n), { token })],
    ['a token in place of SOL', () => buildSolana(usdc(1n), { token: null })],
    ['an amount that is too high', () => buildSolana(sol(2n ** 64n))],
    [
      'a payment to the sender',
      () => buildSolana({ ...sol(1n), outputs: [{ recipient: from, tokenContract: null, amount: 1n }] }),
    ],
    [
      'a payment to the mint',
      () => buildSolana({ ...usdc(1n), outputs: [{ recipient: usdcMint, tokenContract: usdcMint, amount: 1n }] }),
    ],
    ['a memo of 101 letters of four bytes', () => buildSolana(sol(1n, '😀'.repeat(101)))],
  ])('a plan with %s', (_, plan) => {
    expect(plan).toThrow();
  });

  it('the longest memo fits', () => {
    expect(solanaCodec.describe(buildSolana(usdc(1n, '😀'.repeat(100)))).memo).toBe('😀'.repeat(100));
  });
});

test.each([
  [0, '00'],
  [127, '7f'],
  [128, '8001'],
  [16_383, 'ff7f'],
  [16_384, '808001'],
  [65_535, 'ffff03'],
])('the length %d is written as %s', (length, text) => {
  expect(writeLength(length).toString('hex')).toBe(text);
});

const read = (text: string): number => createReader(Buffer.from(text, 'hex')).length();

test('every length is read as it was written', () => {
  for (let length = 0; length <= 0xffff; length += 1) {
    const reader = createReader(writeLength(length));
    if (reader.length() !== length || !reader.isAtEnd()) throw new Error(`${length} is read as another length`);
  }
});

// the cases of solana-short-vec: aliases, what has more than 16 bits, what goes on or ends too early
test.each([
  ...['8000', '808000', 'ff00', 'ff8000', '818000', 'ffff00'],
  ...['808004', '808006', 'ffff04', 'ffff7f', '808080', '80808000', 'ffffff03', '80808001', 'ffffff'],
  ...['', '80', '8080', 'ff', 'ffff'],
])('%s is no length', (text) => {
  expect(() => read(text)).toThrow();
});

test('no length of a payment has another form', () => {
  const bytes = raw(buildSolana(usdc(7n, 'memo')));
  const length = (at: number): number => bytes[at] as number;
  const positions = [4];
  let at = 5 + 32 * length(4) + 32;
  positions.push(at);
  for (let left = length(at++); left > 0; left -= 1) {
    positions.push((at += 1));
    positions.push((at += 1 + length(at)));
    at += 1 + length(at);
  }
  positions.push(at);
  expect(at).toBe(bytes.length - 1);
  expect(positions).toHaveLength(13);
  for (const position of positions) {
    const value = length(position);
    for (const form of [
      [value | 128, 0],
      [value | 128, 128, 0],
      [value | 128, 128, 4],
    ]) {
      const changed = Buffer.concat([bytes.subarray(0, position), Buffer.from(form), bytes.subarray(position + 1)]);
      expect(() => readMessage(changed)).toThrow('a length is out of range or too long');
      expect(() => decode(hex(changed))).toThrow();
    }
  }
  for (const more of [[0], [1], [...bytes]])
    expect(() => readMessage(Buffer.concat([bytes, Buffer.from(more)]))).toThrow('bytes follow the message');
});

test('a message is read as it was written, whatever it is', () => {
  const instructions = [{ program: programs.memo, accounts: [{ key: recipientKey, isWritable: true }], data: Buffer.from('x') }];
  expect(readMessage(writeMessage(owner, Buffer.alloc(32, 3), instructions))).toEqual({
    ...{ payer: owner, blockhash: Buffer.alloc(32, 3) },
    instructions: [{ program: programs.memo, accounts: [recipientKey], data: Buffer.from('x') }],
  });
});

function u32(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes.toString('hex');
}

function u64(value: bigint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes.toString('hex');
}
