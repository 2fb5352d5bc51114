import type { Hex } from '../../../src/chains/types';
import { GatewayError } from '../../../src/platform/errors';
import { listAuditLog } from '../../../src/audit/list';
import { claimsOf } from '../../orders';
import type { FollowFixture } from '../following/fixture';
import { createFundedFixture } from './served';

/** The activity that stores signatures, sends the bytes and makes the transfer SUBMITTED. */

let fixture: FollowFixture;
beforeEach(async () => {
  fixture = await createFundedFixture();
});
afterEach(() => fixture.close());

/** A transfer of which nodes have signed the first attempt. */
async function signed() {
  const txId = await fixture.transfer({ tokenSymbol: 'USDC', amount: '5', toAddress: fixture.bob.address });
  const next = { txId, attempt: 1, kind: 'first' } as const;
  const begun = await fixture.ledger.beginAttempt({ ...next, prepared: await fixture.onChain.prepareAttempt(next) });
  if (begun.outcome !== 'begun') throw new Error(`not begun: ${begun.outcome}`);
  const signatures = fixture.signatures(begun.unsigned, claimsOf(begun.order).from);
  return { txId, attempt: 1, signed: { signatures } };
}

const stored = async (txId: string) => (await fixture.attempts(txId))[0];

test('what was signed is committed before a node is asked; repeated, the same bytes are sent and recorded once', async () => {
  const input = await signed();
  const { txId } = input;
  let sent: unknown;
  jest.spyOn(fixture.client, 'broadcast').mockImplementationOnce(async (bytes) => {
    sent = bytes;
    // read over another connection
    expect(await stored(txId)).toMatchObject({ signed: bytes, broadcast_at: null });
    throw new GatewayError('chain_unavailable', 'away');
  });
  await expect(fixture.onChain.broadcast(input)).rejects.toMatchObject({ code: 'chain_unavailable' });
  expect(await fixture.transaction(txId)).toMatchObject({ status: 'SIGNING' });
  for (let time = 0; time < 2; time += 1) {
    expect(await fixture.onChain.broadcast(input)).toMatchObject({ outcome: 'accepted', status: 'SUBMITTED' });
    expect(await stored(txId)).toMatchObject({ signed: sent, broadcast_at: expect.any(Date) });
  }
  const log = await listAuditLog(fixture.database.manager, { subject: txId, limit: 10 });
  expect(log.filter(({ action }) => action === 'transfer.signed')).toHaveLength(1);
});

test('signatures that are not of the signer are neither stored nor sent', async () => {
  const { txId, attempt } = await signed();
  const send = jest.spyOn(fixture.client, 'broadcast');
  const unsigned = (await stored(txId))?.unsigned as Hex;
  const signatures = fixture.signatures(unsigned, fixture.bob.address);
  await expect(fixture.onChain.broadcast({ txId, attempt, signed: { signatures } })).rejects.toMatchObject({
    code: 'invalid_signature',
  });
  expect(send).not.toHaveBeenCalled();
  expect(await stored(txId)).toMatchObject({ signed: null, tx_hash: null });
});
