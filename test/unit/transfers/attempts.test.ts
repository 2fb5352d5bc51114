import { type Attempt, Attempts, type Inclusion } from '../../../src/transfers/attempts';

const inclusion: Inclusion = {
  kind: 'first',
  hash: 'a',
  blockNumber: 7n,
  blockHash: 'b',
  success: true,
  fee: 1n,
  debited: null,
  received: null,
  agreedBy: null,
  depth: 1n,
};
const attempt = (number: number, changes: Partial<Attempt> = {}): Attempt => ({
  attempt: number,
  kind: number === 1 ? 'first' : 'replacement',
  prepared: { feeBound: '1', expiry: null, details: null },
  unsigned: `0x0${number}`,
  signers: [],
  messageKey: `m${number}`,
  ids: [],
  expiry: null,
  begunAt: new Date(0),
  signed: null,
  signedAt: null,
  isBroadcast: false,
  impossibleProof: null,
  isProofDoubted: false,
  inclusion: null,
  ...changes,
});
const signed = { id: 'a', bytes: '0x02' } as const;

describe('attempts of a transfer', () => {
  test('without attempts the next is the first, and nothing is proven', () => {
    const none = new Attempts([]);
    expect([none.last, none.nextNumber, none.inclusions[0], none.isAbandoned, none.allImpossible]).toEqual([
      undefined,
      1,
      undefined,
      false,
      false,
    ]);
    expect(() => none.get(1)).toThrow(/no attempt 1/);
  });

  test('the last, the next, the signed ones and known bytes', () => {
    const two = new Attempts([attempt(1, { signed }), attempt(2)]);
    expect([two.last?.attempt, two.nextNumber]).toEqual([2, 3]);
    expect(two.signed.map((it) => it.attempt)).toEqual([1]);
    expect(two.getSigned(1).signed).toEqual(signed);
    expect(() => two.getSigned(2)).toThrow(/not signed/);
    expect([two.knows('0x01'), two.knows('0x03')]).toEqual([true, false]);
  });

  test('inclusions: one of them; a second only where both blocks were scanned', () => {
    const unscanned = { ...inclusion, depth: 0n };
    expect(new Attempts([attempt(1), attempt(2, { inclusion })]).inclusions).toEqual([inclusion]);
    const both = (first: Inclusion, second: Inclusion) =>
      new Attempts([attempt(1, { inclusion: first }), attempt(2, { inclusion: second })]).inclusions;
    expect(both(unscanned, inclusion)).toEqual([inclusion]);
    expect(both(unscanned, unscanned)).toEqual([unscanned]);
    const other = { ...inclusion, hash: 'b' };
    expect(both(inclusion, other)).toEqual([inclusion, other]);
    // one transaction of the chain that carries out both
    expect(both(inclusion, inclusion)).toEqual([inclusion]);
  });

  test('a cancellation abandons the transfer', () => {
    expect(new Attempts([attempt(1), attempt(2)]).isAbandoned).toBe(false);
    expect(new Attempts([attempt(1), attempt(2, { kind: 'cancellation' })]).isAbandoned).toBe(true);
  });

  test('impossible only when every attempt is', () => {
    const proof = { impossibleProof: { used_by: 'x' } };
    expect(new Attempts([attempt(1, proof), attempt(2)]).allImpossible).toBe(false);
    expect(new Attempts([attempt(1, proof), attempt(2, proof)]).allImpossible).toBe(true);
    expect(new Attempts([attempt(1, { ...proof, inclusion })]).allImpossible).toBe(false);
  });
});
