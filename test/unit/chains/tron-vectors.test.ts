import { decode } from '../../../src/chains/tron/codec/transaction';
import { buildTron, signDigest, tronCodec } from '../../tron';
import vectors from './tron-vectors.json';

/** Made by another implementation, with TRON's own description of the messages: test/official/tron_vectors.py. */

test.each(vectors.map((vector) => [vector.id, vector] as const))('%s', (id, vector) => {
  const { key, from, to, token, memo, unsigned, signature, signed, reference, expiration, timestamp } = vector;
  const outputs = [{ recipient: to, tokenContract: token, amount: BigInt(vector.amount) }];
  const intent = { from, outputs, ...(memo !== null && { memo }) };
  const built = buildTron(intent, { reference, expiration, timestamp, feeLimit: BigInt(vector.feeLimit) });
  expect(built).toBe(`0x${unsigned}`);
  expect(tronCodec.messageKey(built, from)).toBe(id);
  expect(tronCodec.describe(`0x${unsigned}`)).toMatchObject({ outputs, expiresAt: Math.floor(expiration / 1000) });
  expect(decode(`0x${unsigned}`)).toMatchObject({ memo, feeLimit: BigInt(vector.feeLimit), timestamp: BigInt(timestamp) });

  const own = signDigest(`0x${id}`, Buffer.from(key, 'hex'));
  // theirs ends in the recovery id, ours in that and 27: the network takes both
  expect(own).toBe(`0x${signature}`);
  const assembled = tronCodec.assemble(built, [own], from);
  const end = (27 + Number.parseInt(signature.slice(-2), 16)).toString(16);
  expect(assembled).toEqual({ id, bytes: `0x${signed.slice(0, -2)}${end}` });
});

test('both kinds are among them, and memos', () => {
  expect(new Set(vectors.map(({ token }) => token === null))).toEqual(new Set([true, false]));
  expect(new Set(vectors.map(({ memo }) => memo)).size).toBe(5);
});
