import { ed25519 } from '@noble/curves/ed25519.js';
import { hexToBytes } from '@noble/curves/utils.js';
import fc from 'fast-check';
import { address, isOnCurve, parseAddress, toBytes } from '../../../src/chains/solana/codec/address';
import { fromBase58, hexFromBase58, toBase58 } from '../../../src/chains/solana/codec/base58';
import { programs } from '../../../src/chains/solana/codec/programs';
import { associatedTokenAccount } from '../../../src/chains/solana/codec/token-account';
import { getFamily } from '../../../src/chains/families';

describe('base58', () => {
  it('is read back, with every zero byte in front', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), fc.nat(3), (body, zeros) => {
        const bytes = Buffer.concat([Buffer.alloc(zeros), body]);
        expect(toBase58(bytes)).toMatch(new RegExp(`^1{${zeros}}[1-9A-HJ-NP-Za-km-z]+$`));
        expect(fromBase58(toBase58(bytes), bytes.length)).toEqual(bytes);
        expect(fromBase58(toBase58(bytes), bytes.length + 1)).toBeNull();
      }),
    );
  });

  it('of 32 bytes is read as the library reads it, also where zero bytes are in front and where it is of another length', () => {
    const any = fc.tuple(fc.nat(4), fc.uint8Array({ minLength: 26, maxLength: 34 })).map(([zeros, body]) => {
      const bytes = Buffer.from(body);
      return toBase58(bytes.fill(0, 0, zeros));
    });
    fc.assert(
      fc.property(any, (text) => {
        expect(hexFromBase58(text)).toBe(fromBase58(text, 32)?.toString('hex') ?? null);
      }),
      { numRuns: 500 },
    );
    expect(hexFromBase58('1'.repeat(32))).toBe('0'.repeat(64));
  });

  const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
  it.each([
    ['', '0 letters'],
    [`1${usdc}`, 'a leading 1 too many'],
    ['1'.repeat(31), '31 ones'],
    ['1'.repeat(33), '33 ones'],
    ['z'.repeat(44), 'a number above 32 bytes'],
    [usdc.replace('E', '0'), 'a letter that is none'],
    [` ${usdc}`, 'a space'],
    [`${usdc}\n`, 'a line end'],
    ['1'.repeat(1_000_000), 'a very long text'],
  ])('%# %s: %s are no 32 bytes', (text) => {
    expect(fromBase58(text, 32)).toBeNull();
    expect(hexFromBase58(text)).toBeNull();
    expect(parseAddress(text)).toBeNull();
  });
});

describe('addresses', () => {
  it('are public keys (RFC 8032, test 1)', () => {
    const key = hexToBytes('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a');
    const parsed = { address: 'FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z', key: Buffer.from(key).toString('hex') };
    expect(address(key)).toEqual(parsed);
    expect(parseAddress(parsed.address)).toEqual(parsed);
  });

  it.each([31, 33])('of %d bytes are refused', (size) => {
    expect(() => address(Buffer.alloc(size, 1))).toThrow();
  });

  it('of no point of the curve are refused for own keys, and read for others', () => {
    const account = associatedTokenAccount(Buffer.from(ed25519.getPublicKey(Buffer.alloc(32, 1))), Buffer.alloc(32, 2), 'token');
    expect(isOnCurve(account)).toBe(false);
    expect(() => address(account)).toThrow('point');
    expect(parseAddress(toBase58(account))?.key).toBe(account.toString('hex'));
  });

  it('are asked about once: the answer is that of the bytes, also where a buffer has others by then, and beyond what is kept', () => {
    const points = Array.from({ length: 3 }, (_, at) => Buffer.from(ed25519.getPublicKey(Buffer.alloc(32, at + 1))));
    const derived = points.map((owner) => associatedTokenAccount(owner, Buffer.alloc(32, 9), 'token'));
    const buffer = Buffer.alloc(32);
    for (let round = 0; round < 3; round += 1)
      for (const [bytes, expected] of [
        ...points.map((it) => [it, true] as const),
        ...derived.map((it) => [it, false] as const),
      ]) {
        bytes.copy(buffer);
        expect(isOnCurve(buffer)).toBe(expected);
      }
    const began = performance.now();
    for (let at = 0; at < 10_000; at += 1) isOnCurve(points[0] as Buffer);
    // computed each time it would be more than a second
    expect(performance.now() - began).toBeLessThan(500);
  });

  it('of programs that payments call are refused', () => {
    for (const program of Object.values(programs)) expect(parseAddress(toBase58(program))).toBeNull();
    expect(() => toBytes('11111111111111111111111111111111')).toThrow('no Solana address');
  });

  it('in another letter case are other addresses', () => {
    expect(parseAddress('ePjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')?.key).not.toBe(
      parseAddress('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')?.key,
    );
  });
});

describe('the families', () => {
  it.each(['solana', 'solana-devnet', 'solana-local'])('%s', (name) => {
    const family = getFamily(name);
    expect(family).toMatchObject({ name, keyProtocol: 'frost-ed25519', tokenType: 'SPL', carriesMemo: true });
    expect(family.rules).toEqual({ stuck: 'rebroadcast', expired: 'reissue', abandoned: 'expiry' });
    expect(family.accountPath(0)).toBe('m');
    expect(family.getOrdinal('x')).toBeNull();
  });
});
