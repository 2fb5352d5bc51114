import { clearInclusions } from '../../../src/following/inclusions';
import type { TransactionType } from '../../../src/transactions/types';
import { findRedoable } from '../../../src/cli/redo-operations';
import { storeRedoRequest } from '../../../src/transfers/redo/requests';
import { whyNotRedone } from '../../../src/transfers/redo/rules';
import { ethereum, type Fixture, include, sign } from '../ledger/fixture';
import { abandonable } from './abandonable';
import { useFundedFixture } from './fixture';
import { finalise, losesItsBlock } from './taken-back';

/** What has been signed is redone only once nothing of it can be executed, as the rows say; the database has the same rule. */

let fixture: Fixture;
const { row, locked } = useFundedFixture((it) => (fixture = it));

const query = (sql: string, values: unknown[] = []) => fixture.database.query<Record<string, unknown>[]>(sql, values);
const sent = async (): Promise<string> => {
  const txId = await locked();
  await sign(fixture, txId);
  await fixture.ledger.markSubmitted({ txId, attempt: 1 });
  return txId;
};
const ended = async (effect: Parameters<typeof include>[3]): Promise<string> => {
  const txId = await sent();
  await include(fixture, txId, 1, effect);
  await fixture.ledger.settleTransfer({ txId });
  return txId;
};
const reverted = () => ended({ success: false });
const finalised = (txId: string) => finalise(fixture, txId);
const reopened = async () => losesItsBlock(fixture, await finalised(await reverted()));
const prove = (txId: string) =>
  query(`update transfer_attempts set impossible_proof = '{"why":"test"}' where tx_id = $1`, [txId]);
const failedByProof = async (): Promise<string> => {
  const txId = await sent();
  await abandonable(fixture, txId);
  await prove(txId);
  expect(await fixture.ledger.failByProof({ txId })).toMatchObject({ status: 'FAILED' });
  return txId;
};
const executedAfterProof = async (): Promise<string> => {
  const txId = await failedByProof();
  await include(fixture, txId, 1, { debited: 10_000_000n });
  return txId;
};
const cancelled = async (): Promise<string> => {
  const txId = await locked();
  await fixture.ledger.cancelTransfer({ txId });
  return txId;
};
const aged = async (txId: string): Promise<string> => {
  await fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query(`update transactions set ended_at = ended_at - interval '31 days' where tx_id = $1`, [txId]);
  });
  return txId;
};
const unrequested = async (txId: string): Promise<string> => {
  await fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query(`update transactions set requested_by = null where tx_id = $1`, [txId]);
  });
  return txId;
};

const manager = () => fixture.database.manager;
const ask = async (txId: string) => storeRedoRequest(manager(), { txId, operator: 'test' });

test.each<[string, () => Promise<string>]>([
  ['was cancelled before anything was signed', cancelled],
  ['has failed in a block that is final', async () => finalised(await reverted())],
  ['has failed by proofs of all its attempts', failedByProof],
])('a transfer that %s is redone', async (_, build) => {
  const txId = await build();
  expect(await whyNotRedone(manager(), await row(txId))).toBeNull();
  await ask(txId);
  expect(await query('select tx_id, operator from redo_requests')).toEqual([{ tx_id: txId, operator: 'test' }]);
});

test.each<[string, () => Promise<string>, RegExp]>([
  ['waits', () => locked(), /is PENDING, and may still pay/],
  ['is sent', sent, /is SUBMITTED, and may still pay/],
  ['has paid', () => ended({ debited: 10_000_000n }), /CONFIRMED, and has paid/],
  ['has failed in a block that is not final yet', reverted, /may still be executed/],
  ['has failed in a final block that is gone', reopened, /may still be executed/],
  ['has ended long ago', async () => aged(await cancelled()), /more than 30 days ago/],
  ['was rebuilt, so that nobody has requested it', async () => unrequested(await cancelled()), /is not known/],
])('one that %s is not, nor does the database take a request', async (_, build, why) => {
  const txId = await build();
  expect(await whyNotRedone(manager(), await row(txId))).toMatchObject({
    code: 'business_error',
    message: expect.stringMatching(why),
  });
  await expect(ask(txId)).rejects.toThrow(/may not be redone/);
});

test('one that was executed although it was proven impossible is not', async () => {
  const txId = await executedAfterProof();
  expect(await whyNotRedone(manager(), await row(txId))).toMatchObject({
    message: expect.stringMatching(/may still be executed/),
  });
  await expect(ask(txId)).rejects.toThrow(/may not be redone/);
  // the books must agree in the end
  await clearInclusions(manager(), ethereum.name, 1);
});

test('a transaction of another type is refused with what can be done in place of it', async () => {
  const tx = await row(await cancelled());
  const whyNot = async (transactionType: TransactionType) => (await whyNotRedone(manager(), { ...tx, transactionType }))?.message;
  expect(await whyNot('X402_SETTLE')).toMatch(/POST \/x402\/settle/);
  expect(await whyNot('X402_SIGN')).toMatch(/POST \/x402\/sign/);
  expect(await whyNot('CONSOLIDATION')).toMatch(/another consolidation/);
  expect(await whyNot('INBOUND')).toMatch(/deposit/);
});

test('a list leaves out what nobody may redo only by saying why', async () => {
  const txId = await reverted();
  const filter = { code: 'reverted_on_chain', sinceMs: 60_000, limit: 5 };
  expect(await findRedoable(manager(), filter)).toEqual([
    { tx: expect.objectContaining({ txId }), made: null, refusal: expect.objectContaining({ code: 'business_error' }) },
  ]);
  await finalised(txId);
  expect(await findRedoable(manager(), filter)).toMatchObject([{ tx: { txId }, refusal: null }]);
});
