import type { SigningClaims } from '../../../src/messages/order';
import { toAdmissionRequest } from '../../../src/mpc/admission-request';
import { orderHead } from '../../orders';

const facts = { client_id: 'tenant', method: 'eip3009', payer: '0x3', identity: 'x', authorised: '1', window_end: 1 };
const request = (changes: object) => {
  const claims = {
    ...{ ...orderHead(), kind: 'settlement', tx_id: 't1', attempt: 1, client_id: 'house', request: null, chain: 'eip155:1' },
    ...{ from: '0x1', signers: [], recipients: [], max_fee: '1', ...changes },
  } as unknown as SigningClaims;
  const spends = { chain: 'ethereum', token: 'gas', amount: 1n, fee: 1n, recipients: [] };
  const verified = { payloads: [], resources: [], spends };
  const bytes = { order: 'a.b.c', unsigned: '0x00' as const };
  return toAdmissionRequest({ claims, hash: '00' }, verified, bytes, 0, 'house.1', { peer: 2, initiator: 1 });
};

test.each(['settlement', 'replacement'] as const)('a %s is for the client who asked for it', (kind) => {
  expect(request({ kind, settlement: facts })).toMatchObject({ clientId: 'house', onBehalfOf: 'tenant' });
});

test.each(['transfer', 'replacement', 'gas', 'cancellation'] as const)('a %s without a settlement is for nobody else', (kind) => {
  expect(request({ kind }).onBehalfOf).toBeUndefined();
});
