import fc from 'fast-check';
import {
  encodeFunctionData,
  erc20Abi,
  getAddress,
  hexToBytes,
  pad,
  recoverTransactionAddress,
  serializeTransaction,
  toHex,
  type TransactionSerialized,
} from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';
import { evmCodec as codec } from '../../../src/chains/evm/codec';
import { feesIn } from '../../../src/chains/evm/codec/transaction';
import type { Hex } from '../../../src/chains/types';
import { buildEvm, digestOf, type EvmPlan } from '../../evm';

const privateKey: Hex = '0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef';
const account = privateKeyToAccount(privateKey);
const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const contract = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

const anyAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .filter((bytes) => bytes.some((byte) => byte !== 0))
  .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString('hex')}`));
const fees = fc.oneof(
  fc
    .record({ tip: fc.bigInt(0n, 10n ** 12n), base: fc.bigInt(1n, 10n ** 13n) })
    .map(({ tip, base }) => ({ maxFeePerGas: tip + base, maxPriorityFeePerGas: tip, gasPrice: null })),
  fc.bigInt(1n, 10n ** 13n).map((gasPrice) => ({ maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice })),
);
const plans: fc.Arbitrary<EvmPlan> = fc
  .record({
    chainId: fc.constantFrom(1, 56, 137, 42161, 10, 43114, 8453, 11155420),
    nonce: fc.nat(),
    to: anyAddress,
    tokenContract: fc.option(anyAddress),
    amount: fc.bigInt(0n, 2n ** 200n),
    gasLimit: fc.bigInt(21_000n, 30_000_000n),
    fees,
  })
  .map(({ fees: chosen, ...rest }) => ({ kind: 'first' as const, from: account.address, ...rest, ...chosen }));

function plan(changes: Partial<EvmPlan> = {}): EvmPlan {
  return {
    chainId: 1,
    kind: 'first',
    nonce: 7,
    from: account.address,
    to: recipient,
    tokenContract: null,
    amount: 5n,
    gasLimit: 21_000n,
    maxFeePerGas: 100n,
    maxPriorityFeePerGas: 1n,
    gasPrice: null,
    ...changes,
  };
}

const text = (value: object): string =>
  JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? member.toString() : member));
const compact = (signature: { r: Hex; s: Hex; yParity?: number }): Hex =>
  `${signature.r}${signature.s.slice(2)}0${signature.yParity}`;

describe('build and describe', () => {
  it('describe returns the plan that build was given', () => {
    fc.assert(
      fc.property(plans, (given) => {
        const shown = codec.describe(buildEvm(given));
        expect(shown).toEqual({
          chain: `eip155:${given.chainId}`,
          action: 'payment',
          resources: [String(given.nonce)],
          outputs: [{ recipient: given.to, tokenContract: given.tokenContract, amount: given.amount }],
          maxNetworkFee: given.gasLimit * (given.maxFeePerGas ?? (given.gasPrice as bigint)),
        });
      }),
    );
  });

  it('a flipped bit is refused or changes the description', () => {
    fc.assert(
      fc.property(plans, fc.nat(), (given, at) => {
        const unsigned = buildEvm(given);
        const bytes = hexToBytes(unsigned);
        const bit = at % (bytes.length * 8);
        bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
        const changed: Hex = `0x${Buffer.from(bytes).toString('hex')}`;
        let shown: string;
        try {
          shown = text(codec.describe(changed));
        } catch {
          return;
        }
        // a description omits only the tip and the split of the highest fee into gas and price
        if (shown === text(codec.describe(unsigned))) expect(feesIn(changed)).not.toEqual(feesIn(unsigned));
      }),
      { numRuns: 300 },
    );
  });

  const common = {
    chainId: 1,
    nonce: 1,
    to: recipient as Hex,
    gas: 50_000n,
    maxFeePerGas: 10n,
    maxPriorityFeePerGas: 1n,
    type: 'eip1559' as const,
  };
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [recipient, 5n] });
  it.each<[string, Hex]>([
    ['an access list', serializeTransaction({ ...common, accessList: [{ address: contract, storageKeys: [] }] })],
    [
      'an EIP-2930 transaction',
      serializeTransaction({ chainId: 1, nonce: 1, to: recipient, gas: 50_000n, gasPrice: 1n, type: 'eip2930' }),
    ],
    ['an EIP-7702 transaction', serializeTransaction({ ...common, type: 'eip7702', authorizationList: [] })],
    ['a contract creation', serializeTransaction({ ...common, to: undefined, data: '0x6000' })],
    ['unknown calldata', serializeTransaction({ ...common, data: '0x12345678' })],
    [
      'an approval',
      serializeTransaction({
        ...common,
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [recipient, 5n] }),
      }),
    ],
    [
      'a transferFrom',
      serializeTransaction({
        ...common,
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [recipient, recipient, 5n] }),
      }),
    ],
    ['trailing calldata', serializeTransaction({ ...common, data: `${transfer}00` })],
    ['dirty address bytes', serializeTransaction({ ...common, data: transfer.replace('a9059cbb00', 'a9059cbb01') as Hex })],
    ['a token transfer with value', serializeTransaction({ ...common, data: transfer, value: 1n })],
    [
      'a token transfer to the zero address',
      serializeTransaction({
        ...common,
        data: encodeFunctionData({
          abi: erc20Abi,
          functionName: 'transfer',
          args: ['0x0000000000000000000000000000000000000000', 5n],
        }),
      }),
    ],
    ['the zero address', serializeTransaction({ ...common, to: '0x0000000000000000000000000000000000000000' })],
    [
      'a legacy transaction without chain id',
      serializeTransaction({ nonce: 1, to: recipient, gas: 50_000n, gasPrice: 1n, type: 'legacy' }),
    ],
    ['too little gas', serializeTransaction({ ...common, gas: 20_999n })],
    ['more gas than a block has', serializeTransaction({ ...common, gas: 30_000_001n })],
    ['no fee', serializeTransaction({ ...common, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n })],
    [
      'a signed transaction',
      serializeTransaction({ ...common }, { r: `0x${'11'.repeat(32)}`, s: `0x${'22'.repeat(32)}`, yParity: 0 }),
    ],
    ['nothing', '0x'],
    ['no hex', '0xzz'],
  ])('refuses %s', (_, unsigned) => {
    expect(() => codec.describe(unsigned)).toThrow();
    expect(() => codec.signingPayloads(unsigned, account.address)).toThrow();
  });

  it('a cancellation moves nothing to oneself, and no other transaction is a cancellation', () => {
    expect(codec.describe(buildEvm(plan({ kind: 'cancellation', to: account.address, amount: 0n })))).toMatchObject({
      outputs: [{ recipient: account.address, amount: 0n }],
    });
    expect(() => buildEvm(plan({ kind: 'cancellation' }))).toThrow(/cancellation/);
    expect(() => buildEvm(plan({ kind: 'cancellation', to: account.address }))).toThrow(/cancellation/);
  });
});

describe('assemble', () => {
  it.each([
    ['EIP-1559', plan()],
    [
      'legacy',
      plan({ maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: 9n, tokenContract: contract, gasLimit: 60_000n }),
    ],
  ])('%s: the sender is recovered from the signed bytes', async (_, given) => {
    const unsigned = buildEvm(given);
    const digest = digestOf(unsigned, account.address);
    const signature = await sign({ hash: digest, privateKey });
    const { bytes, id } = codec.assemble(unsigned, [compact(signature)], account.address);
    expect(await recoverTransactionAddress({ serializedTransaction: bytes as TransactionSerialized })).toBe(account.address);
    expect(id).toMatch(/^0x[0-9a-f]{64}$/);
    expect(() => codec.assemble(unsigned, [compact(signature)], recipient)).toThrow(/not of the sender/);
  });

  it('refuses a high s (EIP-2) and anything but one signature', async () => {
    const unsigned = buildEvm(plan());
    const signature = await sign({ hash: digestOf(unsigned, account.address), privateKey });
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const high = { r: signature.r, s: pad(toHex(order - BigInt(signature.s))), yParity: 1 - (signature.yParity as number) };
    expect(() => codec.assemble(unsigned, [compact(high)], account.address)).toThrow(/half/);
    expect(() => codec.assemble(unsigned, [], account.address)).toThrow(/one signature/);
    expect(() => codec.assemble(unsigned, [compact(signature), compact(signature)], account.address)).toThrow(/one signature/);
  });
});

describe('addresses', () => {
  it('come from the compressed public key', () => {
    const compressed = hexToBytes(`0x0${2 + Number(BigInt(account.publicKey) & 1n)}${account.publicKey.slice(4, 68)}`);
    expect(codec.address(compressed)).toEqual({ address: account.address, key: account.address.toLowerCase() });
    expect(() => codec.address(hexToBytes(account.publicKey))).toThrow();
    expect(codec.accountPath(3)).toBe('m/60/3');
  });

  it('are accepted with the right checksum, in lower and in upper case; one wrong letter case is refused', () => {
    fc.assert(
      fc.property(anyAddress, fc.nat(39), (address, at) => {
        const key = address.toLowerCase();
        expect(codec.parseAddress(address)).toEqual({ address, key });
        expect(codec.parseAddress(key)).toEqual({ address, key });
        expect(codec.parseAddress(`0x${key.slice(2).toUpperCase()}`)).toEqual({ address, key });
        const letter = address[2 + at] as string;
        const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
        const changed = address.slice(0, 2 + at) + other + address.slice(3 + at);
        const mixed = /[a-f]/.test(changed.slice(2)) && /[A-F]/.test(changed.slice(2));
        if (changed !== address && mixed) expect(codec.parseAddress(changed)).toBeNull();
      }),
    );
  });

  it.each([
    '',
    '0x',
    recipient.slice(2),
    ` ${recipient}`,
    `${recipient}0`,
    recipient.slice(0, -1),
    recipient.replace('0x', '0X'),
    '0x0000000000000000000000000000000000000000',
    'vitalik.eth',
  ])('refuses %p', (text) => {
    expect(codec.parseAddress(text)).toBeNull();
  });
});
