import { ed25519 } from '@noble/curves/ed25519.js';
import { toBytes } from '../../../src/chains/solana/codec/address';
import { fromBase58, toBase58 } from '../../../src/chains/solana/codec/base58';
import { associatedTokenAccount } from '../../../src/chains/solana/codec/token-account';
import { decode } from '../../../src/chains/solana/codec/transaction';
import published from './solana-published.json';

/**
 * Transactions of mainnet and the test clusters, as wallets' tests with links to explorers and public texts show them: signature and bytes. None is
 * in the form that the gateway builds, so none is signed.
 */

const reasons: Record<string, string> = {
  'a transfer with a limit and no price, legacy': 'not of version 0',
  'a delegation with a priority fee': 'not of version 0',
  'a token account': 'not of version 0',
  'a token account for somebody else': 'not of version 0',
  'a token account with a priority fee': 'not of version 0',
  'a transfer of a token, legacy': 'not of version 0',
  'a transfer without limit and price, of version 0': 'limit and price',
  'two transfers with a lookup table': 'names no account',
  'a transfer, legacy': 'not of version 0',
};
const signatureEnd = 65;

test.each(published.map((it) => [it.kind, it] as const))('%s', (kind, { id, bytes }) => {
  const signed = Buffer.from(bytes, 'hex');
  const [signature, message] = [signed.subarray(1, signatureEnd), signed.subarray(signatureEnd)];
  expect(signed[0]).toBe(1);
  expect(toBase58(signature)).toBe(id);
  expect(fromBase58(id, 64)).toEqual(signature);
  const isVersioned = message[0] === 0x80;
  const payer = message.subarray(isVersioned ? 5 : 4).subarray(0, 32);
  expect(ed25519.verify(signature, message, payer, { zip215: false })).toBe(true);
  expect(() => decode(`0x${message.toString('hex')}`)).toThrow(reasons[kind]);
  // legacy messages with the version in front are no payments of the gateway either
  if (!isVersioned) expect(() => decode(`0x80${message.toString('hex')}00`)).toThrow();
});

/** Those that the transactions above create. */
const serum = 'SRMuApVNdxXokk5GT7XD5cUUgXMBCoAz2LHeuAoKWRt';
test.each([
  ['B1iGmDJdvmxyUiYM8UEo2Uw2D58EmUrw4KyLYMmrhf8V', serum, 'EDNd1ycsydWYwVmrYZvqYazFqwk1QjBgAUKFjBoz1jKP'],
  ['Eg5jqooyG6ySaXKbQUu4Lpvu2SqUPZrNkM4zXs9iUDLJ', serum, 'ANVCrmRw7Ww7rTFfMbrjApSPXEEcZpBa6YEiBdf98pAf'],
  ['3xJ3MoUVFPNFEHfWdtNFa8ajXUHsJPzXcBSWMKLd76ft', serum, '67BrwFYt7qUnbAcYBVx7sQ4jeD2KWN1ohP6bMikmmQV3'],
  [
    '7HP8cENhoDxS7yT6UHyT3mVwvN5rv6gMrzwRXXWFJvDU',
    '3NZ9JMVBmGAqocybic2c7LQCJScmgsAZ6vQqTDzcqmJh',
    '94JfTH8qCeBQDBatvULREG43msjSQscT7oHnqx7jppX',
  ],
])('the token account of %s for %s', (owner, mint, account) => {
  expect(toBase58(associatedTokenAccount(toBytes(owner), toBytes(mint), 'token'))).toBe(account);
});
