import { createPrivateKey } from 'node:crypto';
import { OrderSigner } from '../../../src/orders/signer';
import { orderHead, orderKey } from '../../orders';
import { newKeyPair } from '../../keys';

const claims = { ...orderHead(), kind: 'generate_key' as const, key_id: 'w.1', client_id: null };

test('a key is given as PEM or as JWK', async () => {
  const jwk = JSON.stringify(createPrivateKey(orderKey).export({ format: 'jwk' }));
  const [one, other] = await Promise.all([OrderSigner.create(orderKey), OrderSigner.create(jwk)]);
  expect(await one.sign(claims)).toBe(await other.sign(claims));
});

test.each([
  ['no key', 'secret'],
  ['another curve', newKeyPair('P-256').privateKey.export({ format: 'pem', type: 'pkcs8' })],
  ['a public key', JSON.stringify(newKeyPair('ed25519').publicKey.export({ format: 'jwk' }))],
])('%s is refused without being repeated', async (_what, text) => {
  const failure = await OrderSigner.create(text.toString()).catch((error: Error) => error.message);
  expect(failure).toBe('ORDER_KEY must be an Ed25519 private key (PKCS#8 PEM or JWK)');
});
