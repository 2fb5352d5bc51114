import type { SigningClaims } from '../../../src/messages/order';
import { toAdmissionRequest } from '../../../src/mpc/admission-request';
import { orderHead } from '../../orders';

const facts = { client_id: 'tenant', method: 'eip3009', payer: '0x3', identity: 'x', authorised: '1', window_end: 1 };
const digest = Buffer.alloc(32, 1);
const payload = { digest, keyId: 'house.1', path: 'm/60/1', publicKey: Buffer.alloc(33) };
const request = (changes: object, payloads = [payload]) => {
  const claims = {
    ...{ ...orderHead(), kind: 'settlement', tx_id: 't1', attempt: 1, client_id: 'house', request: null, chain: 'eip155:1' },
    ...{ from: '0x1', signers: [], recipients: [], max_fee: '1', ...changes },
  } as unknown as SigningClaims;
  const spends = { chain: 'ethereum', token: 'gas', amount: 1n, fee: 1n, recipients: [] };
  const verified = { payloads, messageKey: 'key', resources: [], spends };
  const bytes = { order: 'a.b.c', unsigned: '0x00' as const };
  return toAdmissionRequest({ claims, hash: '00' }, verified, bytes, 0, 'house.1', { peer: 2, initiator: 1 });
};

test('a message of several digests has its key, so that they stay together; a single one is of the whole message', () => {
  expect(request({ kind: 'transfer' }, [payload, { ...payload, digest: Buffer.alloc(32, 2) }]).messageKey).toBe('key');
  expect(request({ kind: 'transfer' })).not.toHaveProperty('messageKey');
});

test.each(['settlement', 'replacement'] as const)('a %s is for the client who asked for it', (kind) => {
  expect(request({ kind, settlement: facts })).toMatchObject({ clientId: 'house', onBehalfOf: 'tenant' });
});

test.each(['transfer', 'replacement', 'gas', 'cancellation'] as const)('a %s without a settlement is for nobody else', (kind) => {
  expect(request({ kind }).onBehalfOf).toBeUndefined();
});
