import { isOnCurve, toBytes } from '../../../src/chains/solana/codec/address';
import { fromBase58, toBase58 } from '../../../src/chains/solana/codec/base58';
import type { TokenProgram } from '../../../src/chains/solana/codec/programs';
import { associatedTokenAccount } from '../../../src/chains/solana/codec/token-account';
import { buildSolana, signMessage, solanaCodec } from '../../solana';
import vectors from './solana-vectors.json';

/** Made by the Rust SDK of Solana, through its Python binding: test/official/solana_vectors.py. */

const { payments, points } = vectors;

test.each(payments.map((vector) => [vector.id, vector] as const))('%s', (id, vector) => {
  const { key, from, to, mint, token, memo, unsigned, signature, signed, blockhash, units } = vector;
  const outputs = [{ recipient: to, tokenContract: mint, amount: BigInt(vector.amount) }];
  const intent = { from, outputs, ...(memo !== null && { memo }) };
  const program = token && { ...token, program: token.program as TokenProgram };
  const built = buildSolana(intent, { blockhash, units, price: BigInt(vector.price), token: program });
  expect(built).toBe(`0x${unsigned}`);
  expect(solanaCodec.messageKey(built, from)).toBe(vector.messageHash);
  expect(solanaCodec.describe(built)).toMatchObject({ outputs, ...(memo !== null && { memo }) });
  if (mint && program)
    expect([from, to].map((owner) => toBase58(associatedTokenAccount(toBytes(owner), toBytes(mint), program.program)))).toEqual(
      vector.accounts,
    );

  expect(signMessage(built, Buffer.from(key, 'hex'))).toBe(`0x${signature}`);
  expect(solanaCodec.assemble(built, [`0x${signature}`], from)).toEqual({ id, bytes: `0x${signed}` });
});

test('all kinds are among them', () => {
  const kinds = new Set(payments.map(({ token }) => (token ? `${token.program} ${token.creates}` : 'SOL')));
  expect(kinds).toEqual(new Set(['SOL', 'token true', 'token false', 'token-2022 true', 'token-2022 false']));
  expect(new Set(payments.map(({ memo }) => memo)).size).toBe(5);
});

test.each(points)('$address: a point of the curve is $onCurve', ({ address, onCurve }) => {
  expect(isOnCurve(fromBase58(address, 32) as Buffer)).toBe(onCurve);
});

test('points and others are among them', () => {
  expect(new Set(points.map(({ onCurve }) => onCurve)).size).toBe(2);
});
