import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { TronWeb, Trx } from 'tronweb';
import { fromContractForm } from '../../../src/chains/tron/codec/address';
import { decode, encode, type UnsignedTransaction } from '../../../src/chains/tron/codec/transaction';
import { writeMessage } from '../../../src/chains/tron/codec/protobuf';
import type { Hex, TransactionIntent } from '../../../src/chains/types';
import { buildTron, planOf, show, signDigest, transactions, tronCodec, usdtContract } from '../../tron';

const tronWeb = new TronWeb({ fullHost: 'http://127.0.0.1:1' });
const key = Buffer.alloc(32, 0x88);
const { address: from } = tronCodec.address(secp256k1.getPublicKey(key, true));
const to = 'TVjsyZ7fYF3qLF6BQgPmTEZy1xrNNyVAAA';

const trx = (amount: bigint, memo?: string): TransactionIntent => ({
  from,
  outputs: [{ recipient: to, tokenContract: null, amount }],
  ...(memo !== undefined && { memo }),
});
const usdt = (amount: bigint, memo?: string): TransactionIntent => ({
  ...trx(amount, memo),
  outputs: [{ recipient: to, tokenContract: usdtContract, amount }],
});

/** As nodes of the Nile test network have answered them (TRON's documents, createtransaction). */
const published = {
  raw: '0x0a0229272208939ece39d08a7abe40d8c483c1dd335a67080112630a2d747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e5472616e73666572436f6e747261637412320a1541dd791d6b49e190062d650e6a23c575510d35f2f912154192ad11c1bf16b3b14b0bd6b5c7e2db73a0b5e83a18c0843d70d68780c1dd33',
  id: '6303c7639f591407ef9f34a7ac8c9c9a21151f5a6af21924502515734fc267ab',
} as const;

const header = {
  ...{ ref_block_bytes: '2927', ref_block_hash: '939ece39d08a7abe' },
  ...{ expiration: 1_777_447_527_000, timestamp: 1_777_447_470_038 },
};
const triggerWithTronWeb = (amount: bigint) =>
  tronWeb.transactionBuilder.triggerSmartContract(
    usdtContract,
    'transfer(address,uint256)',
    { feeLimit: 20_000_000, txLocal: true, blockHeader: header },
    [
      { type: 'address', value: to },
      { type: 'uint256', value: amount.toString() },
    ],
    from,
  );

describe('bytes and ids', () => {
  it.each([1n, 127n, 128n, 1_000_000n, 2n ** 53n - 1n])('%s sun: those of tronweb', async (amount) => {
    const theirs = await tronWeb.transactionBuilder.sendTrx(to, Number(amount), from, { blockHeader: header });
    const unsigned = buildTron(trx(amount));
    expect(unsigned).toBe(`0x${theirs.raw_data_hex}`);
    expect(tronCodec.messageKey(unsigned, from)).toBe(theirs.txID);
  });

  it.each([1n, 1_000_000n, 2n ** 256n - 1n])('%s of USDT: those of tronweb', async (amount) => {
    const { transaction } = await triggerWithTronWeb(amount);
    const unsigned = buildTron(usdt(amount));
    expect(unsigned).toBe(`0x${transaction.raw_data_hex}`);
    expect(tronCodec.messageKey(unsigned, from)).toBe(transaction.txID);
  });

  it.each(['a memo', 'mémo ☃ 🙂', ' '])('with the memo "%s": those of tronweb', async (memo) => {
    const plain = await tronWeb.transactionBuilder.sendTrx(to, 5, from, { blockHeader: header });
    const theirs = await tronWeb.transactionBuilder.addUpdateData(plain, memo, 'utf8', { txLocal: true });
    expect(buildTron(trx(5n, memo))).toBe(`0x${theirs.raw_data_hex}`);
  });

  it('those of a transaction that a node has shown', () => {
    const { owner, call, expiration, timestamp, feeLimit, memo } = decode(published.raw);
    expect([owner, call.recipient].map((it) => it.toString('hex'))).toEqual([
      '41dd791d6b49e190062d650e6a23c575510d35f2f9',
      '4192ad11c1bf16b3b14b0bd6b5c7e2db73a0b5e83a',
    ]);
    expect({ amount: call.amount, token: call.token, expiration, timestamp, feeLimit, memo }).toEqual({
      ...{ amount: 1_000_000n, token: null, expiration: 1_777_447_527_000n, timestamp: 1_777_447_470_038n },
      ...{ feeLimit: 0n, memo: null },
    });
    expect(tronCodec.messageKey(published.raw, show(owner))).toBe(published.id);
  });
});

describe('signatures', () => {
  it('tronweb verifies what is assembled', async () => {
    const theirs = [
      await tronWeb.transactionBuilder.sendTrx(to, 7, from, { blockHeader: header }),
      (await triggerWithTronWeb(7n)).transaction,
    ];
    for (const [index, intent] of [trx(7n), usdt(7n)].entries()) {
      const unsigned = buildTron(intent);
      const [payload] = tronCodec.signingPayloads(unsigned, from);
      expect(payload).toEqual({
        signer: tronCodec.parseAddress(from)?.key,
        digest: `0x${createHash('sha256')
          .update(Buffer.from(unsigned.slice(2), 'hex'))
          .digest('hex')}`,
      });
      const { id, bytes } = tronCodec.assemble(unsigned, [signDigest(payload?.digest as Hex, key)], from);
      const raw = Buffer.from(unsigned.slice(2), 'hex');
      const signature = bytes.slice(-130);
      const fields: Wire = [
        [1, raw],
        [2, Buffer.from(signature, 'hex')],
      ];
      expect(bytes).toBe(hex(writeMessage(fields)));
      expect([27, 28]).toContain(Number.parseInt(signature.slice(-2), 16));
      const signed = { ...theirs[index], signature: [signature] } as unknown as Parameters<typeof Trx.ecRecover>[0];
      expect(signed.txID).toBe(id);
      expect(TronWeb.address.fromHex(Trx.ecRecover(signed) as string)).toBe(from);
    }
  });

  const unsigned = buildTron(trx(1n));
  const digest = `0x${tronCodec.messageKey(unsigned, from)}` as const;
  const good = signDigest(digest, key);

  it.each<[string, Hex[]]>([
    ['of another key', [signDigest(digest, Buffer.alloc(32, 7))]],
    ['over something else', [signDigest(`0x${'11'.repeat(32)}`, key)]],
    ['with another recovery id', [`${good.slice(0, -2)}${good.endsWith('00') ? '01' : '00'}` as Hex]],
    ['with a recovery id as the network has it', [`${good.slice(0, -2)}1b` as Hex]],
    ['that is too short', [good.slice(0, -2) as Hex]],
    ['twice', [good, good]],
    ['of none', []],
  ])('a signature %s is refused', (_, signatures) => {
    expect(() => tronCodec.assemble(unsigned, signatures, from)).toThrow();
  });

  it('a signature with a high s is refused', () => {
    const n = secp256k1.Point.Fn.ORDER;
    const s = n - BigInt(`0x${good.slice(66, 130)}`);
    const high = `${good.slice(0, 66)}${s.toString(16).padStart(64, '0')}${good.endsWith('00') ? '01' : '00'}` as Hex;
    expect(() => tronCodec.assemble(unsigned, [high], from)).toThrow('half the group order');
  });

  it('bytes of another sender are not signed', () => {
    for (const sender of [to, 'nobody']) {
      expect(() => tronCodec.signingPayloads(unsigned, sender)).toThrow('another sender');
      expect(() => tronCodec.assemble(unsigned, [good], sender)).toThrow('another sender');
      expect(() => tronCodec.messageKey(unsigned, sender)).toThrow('another sender');
    }
  });
});

describe('what is described', () => {
  it('is what was planned, and is recovered', () => {
    for (const intent of [trx(5n), usdt(6n, 'for you')]) {
      const plan = planOf(intent);
      const unsigned = tronCodec.build(plan);
      expect(tronCodec.describe(unsigned)).toEqual({
        ...{ chain: 'tron:local', action: 'payment', outputs: intent.outputs, expiresAt: 1_777_447_527, resources: [] },
        maxNetworkFee: intent.outputs[0]?.tokenContract ? 20_000_000n : 0n,
        ...(intent.memo && { memo: intent.memo }),
      });
      expect(tronCodec.recover(unsigned, 30_000_000n)).toEqual(plan.prepared);
      expect(tronCodec.build({ ...plan, prepared: tronCodec.recover(unsigned, 1n) })).toBe(unsigned);
    }
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
        const bytes = Buffer.from(encode(transaction).slice(2), 'hex');
        const index = at % bytes.length;
        const [before, after] = [bytes.subarray(0, index), bytes.subarray(index + 1)];
        const byte = bytes[index] as number;
        for (const others of [[byte ^ change], [], [byte, change], [change, byte]]) {
          const changed = Buffer.concat([before, Buffer.from(others), after]);
          if (!changed.equals(bytes)) expect(means(changed)).not.toBe(facts(transaction));
        }
      }),
      { numRuns: 500 },
    );
  });
});

type Wire = Parameters<typeof writeMessage>[0];
const join = (...fields: Wire[]): Buffer => Buffer.concat(fields.map((field) => writeMessage(field)));
const owner = Buffer.from('41dd791d6b49e190062d650e6a23c575510d35f2f9', 'hex');
const recipient = Buffer.from('4192ad11c1bf16b3b14b0bd6b5c7e2db73a0b5e83a', 'hex');
const token = Buffer.from('41a614f803b6fd780986a42c78ec9c7f77e6ded13c', 'hex');
const transfer: Wire = [
  [1, owner],
  [2, recipient],
  [3, 1_000_000n],
];
const callData = (to20: Buffer, amount: string, selector = 'a9059cbb', padding = '00'.repeat(12)): Buffer =>
  Buffer.from(`${selector}${padding}${to20.toString('hex')}${amount.padStart(64, '0')}`, 'hex');
const data = callData(recipient.subarray(1), '05');
const trigger: Wire = [
  [1, owner],
  [2, token],
  [4, data],
];

const any = (name: string, value: Buffer): Buffer =>
  writeMessage([
    [1, Buffer.from(`type.googleapis.com/protocol.${name}`)],
    [2, value],
  ]);
const contract = (type: bigint, name: string, value: Buffer, more: Wire = []): Buffer =>
  writeMessage([[1, type], [2, any(name, value)], ...more]);
const start: Wire = [
  [1, Buffer.from('2927', 'hex')],
  [4, Buffer.from('939ece39d08a7abe', 'hex')],
  [8, 1_777_447_527_000n],
];
const end: Wire = [[14, 1_777_447_470_038n]];
const fee: Wire = [[18, 20_000_000n]];
const raw = (body: Buffer, tail: Wire = end): Buffer => join(start, [[11, body]], tail);
const ofTransfer = (fields: Wire, more: Wire = []) => raw(contract(1n, 'TransferContract', writeMessage(fields), more));
const ofTrigger = (fields: Wire, more: Wire = []) =>
  raw(contract(31n, 'TriggerSmartContract', writeMessage(fields), more), [...end, ...fee]);
const plain = ofTransfer(transfer);
const hex = (bytes: Buffer): Hex => `0x${bytes.toString('hex')}`;

describe('bytes that are refused', () => {
  it('unlike these', () => {
    expect(hex(plain)).toBe(published.raw);
    expect(decode(hex(ofTrigger(trigger))).call).toEqual({ recipient, token, amount: 5n });
  });

  const body = contract(1n, 'TransferContract', writeMessage(transfer));
  const memo = (text: Buffer) => join(start, [[10, text]], [[11, body]], end);
  const swapped = join(start, end, [[11, body]]);
  const longNumber = Buffer.from(
    plain
      .toString('hex')
      .replace('18c0843d', '18c084bd00')
      .replace('1232', '1233')
      .replace('1263', '1264')
      .replace('5a67', '5a68'),
    'hex',
  );
  const otherTypes = [0n, 2n, 4n, 11n, 12n, 13n, 30n, 46n, 52n, 54n, 55n, 57n, 58n, 59n, 99n];

  it.each<[string, Buffer]>([
    ...otherTypes.map((type): [string, Buffer] => [
      `a contract of type ${type}`,
      raw(contract(type, 'TransferContract', writeMessage(transfer))),
    ]),
    ['a transfer that is called a call', raw(contract(31n, 'TransferContract', writeMessage(transfer)), [...end, ...fee])],
    ['a call that is called a transfer', raw(contract(1n, 'TriggerSmartContract', writeMessage(trigger)))],
    [
      'another type url',
      raw(
        writeMessage([
          [1, 1n],
          [
            2,
            writeMessage([
              [1, Buffer.from('protocol.TransferContract')],
              [2, writeMessage(transfer)],
            ]),
          ],
        ]),
      ),
    ],
    ['a permission id of an active permission', ofTransfer(transfer, [[5, 2n]])],
    ['the owner’s permission id, spelled out', raw(Buffer.concat([body, Buffer.from('2800', 'hex')]))],
    ['a provider', ofTransfer(transfer, [[3, owner]])],
    ['a name of the contract', ofTransfer(transfer, [[4, Buffer.from('x')]])],
    ['two contracts', join(start, [[11, body]], [[11, body]], end)],
    ['no contract', join(start, end)],
    ['an empty contract', raw(Buffer.alloc(0))],
    ['authorities', join(start, [[9, owner]], [[11, body]], end)],
    ['scripts', join(start, [[11, body]], [[12, owner]], end)],
    ['the number of the reference block', join([start[0] as Wire[0], [3, 9n]], start.slice(1), [[11, body]], end)],
    ['an unknown field', join(start, [[11, body]], end, [[19, 1n]])],
    ['a signature beside it', join([[1, plain]], [[2, Buffer.alloc(65, 1)]])],
    ['an unknown field of the transfer', ofTransfer([...transfer, [4, 1n]])],
    ['fields in another order', swapped],
    ['a field twice', join(start, [[11, body]], end, end)],
    ['a number that is longer than it has to be', longNumber],
    ['a default value', Buffer.concat([plain, Buffer.from('900100', 'hex')])],
    ['a byte behind the end', Buffer.concat([plain, Buffer.from([0])])],
    ['an end that is missing', plain.subarray(0, -1)],
    ['no amount', ofTransfer(transfer.slice(0, 2))],
    [
      'a negative amount',
      raw(
        contract(
          1n,
          'TransferContract',
          Buffer.concat([writeMessage(transfer.slice(0, 2)), Buffer.from('18ffffffffffffffffff01', 'hex')]),
        ),
      ),
    ],
    [
      'a transfer to its sender',
      ofTransfer([
        [1, owner],
        [2, owner],
        [3, 1n],
      ]),
    ],
    [
      'a recipient that is too short',
      ofTransfer([
        [1, owner],
        [2, recipient.subarray(1)],
        [3, 1n],
      ]),
    ],
    [
      'a recipient with another first byte',
      ofTransfer([
        [1, owner],
        [2, Buffer.concat([Buffer.from([0xa0]), recipient.subarray(1)])],
        [3, 1n],
      ]),
    ],
    [
      'the zero address',
      ofTransfer([
        [1, owner],
        [2, fromContractForm(Buffer.alloc(20))],
        [3, 1n],
      ]),
    ],
    ['no owner', ofTransfer(transfer.slice(1))],
    ['a fee limit of a transfer of TRX', raw(body, [...end, ...fee])],
    ['no fee limit of a call', raw(contract(31n, 'TriggerSmartContract', writeMessage(trigger)))],
    [
      'a fee limit above the network’s',
      raw(contract(31n, 'TriggerSmartContract', writeMessage(trigger)), [...end, [18, 15_000_000_001n]]),
    ],
    [
      'a call with TRX',
      ofTrigger([
        [1, owner],
        [2, token],
        [3, 1n],
        [4, data],
      ]),
    ],
    ['a call with a TRC-10 token', ofTrigger([...trigger, [5, 1n], [6, 1_000_001n]])],
    ['a call without data', ofTrigger(trigger.slice(0, 2))],
    [
      'a call of approve',
      ofTrigger([
        [1, owner],
        [2, token],
        [4, callData(recipient.subarray(1), '05', '095ea7b3')],
      ]),
    ],
    [
      'a call of transferFrom',
      ofTrigger([
        [1, owner],
        [2, token],
        [4, Buffer.concat([callData(recipient.subarray(1), '05', '23b872dd'), Buffer.alloc(32, 1)])],
      ]),
    ],
    [
      'data behind the call',
      ofTrigger([
        [1, owner],
        [2, token],
        [4, Buffer.concat([data, Buffer.from([0])])],
      ]),
    ],
    [
      'a recipient with the first byte within the call',
      ofTrigger([
        [1, owner],
        [2, token],
        [4, callData(recipient.subarray(1), '05', 'a9059cbb', `${'00'.repeat(11)}41`)],
      ]),
    ],
    [
      'the zero address within the call',
      ofTrigger([
        [1, owner],
        [2, token],
        [4, callData(Buffer.alloc(20), '05')],
      ]),
    ],
    [
      'nothing within the call',
      ofTrigger([
        [1, owner],
        [2, token],
        [4, callData(recipient.subarray(1), '00')],
      ]),
    ],
    ['no reference', join(start.slice(2), [[11, body]], end)],
    ['a reference of three bytes', join([[1, Buffer.from('012927', 'hex')]], start.slice(1), [[11, body]], end)],
    ['no expiration', join(start.slice(0, 2), [[11, body]], end)],
    ['no time', join(start, [[11, body]])],
    ['an expiration beyond all times', join(start.slice(0, 2), [[8, 9_000_000_000_001n]], [[11, body]], end)],
    ['a memo that is no text', memo(Buffer.from('ff', 'hex'))],
    ['a memo that is too long', memo(Buffer.alloc(401, 97))],
    ['more than fits', memo(Buffer.alloc(2_000, 97))],
  ])('%s', (_, bytes) => {
    expect(() => decode(hex(bytes))).toThrow();
  });

  it('and hex in another form', () => {
    for (const text of ['', '0x', published.raw.slice(2), published.raw.toUpperCase(), `${published.raw}0`, `${published.raw}\n`])
      expect(() => tronCodec.describe(text as Hex)).toThrow();
  });
});

describe('plans that are refused', () => {
  const plan = planOf(trx(1n));
  it.each<[string, () => unknown]>([
    ['a replacement', () => tronCodec.build({ ...plan, kind: 'replacement' })],
    ['a cancellation', () => tronCodec.build({ ...plan, kind: 'cancellation' })],
    ['resources', () => tronCodec.build({ ...plan, resources: ['1'] })],
    ['two recipients', () => buildTron({ ...trx(1n), outputs: [...trx(1n).outputs, ...trx(2n).outputs] })],
    ['no recipient', () => buildTron({ from, outputs: [] })],
    ['an amount of nothing', () => buildTron(trx(0n))],
    ['more than a number holds', () => buildTron(trx(2n ** 63n))],
    ['more than a word holds', () => buildTron(usdt(2n ** 256n))],
    [
      'a recipient of another chain',
      () =>
        buildTron({
          from,
          outputs: [{ recipient: '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c', tokenContract: null, amount: 1n }],
        }),
    ],
    ['a memo of 401 bytes', () => buildTron(trx(1n, 'a'.repeat(401)))],
    ['a token without a fee limit', () => buildTron(usdt(1n), { feeLimit: 0n })],
    ['TRX with a fee limit', () => buildTron(trx(1n), { feeLimit: 1n })],
    ['details of another family', () => tronCodec.build({ ...plan, prepared: { ...plan.prepared, details: { gasLimit: '1' } } })],
    ['details without an expiration', () => tronCodec.build({ ...plan, prepared: { ...plan.prepared, expiry: null } })],
  ])('%s', (_, attempt) => {
    expect(attempt).toThrow();
  });
});
