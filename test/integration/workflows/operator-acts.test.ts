import { userInfo } from 'node:os';
import { ApplicationFailure } from '@temporalio/common';
import { listAuditLog } from '../../../src/audit/list';
import { sealAuditLog } from '../../../src/audit/seal';
import { verifyAuditLog } from '../../../src/audit/verify';
import { statusQuery } from '../../../src/messages/progress';
import { abandonUpdate, possibleUpdatesQuery, retryUpdate, type TransferActivities } from '../../../src/messages/transfer';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { actIdentitiesIn } from '../../../src/transfers/operate/act-identity';
import { operatorActId, recordOperatorAct } from '../../../src/transfers/operate/operator-acts';
import { booksAgree, ServedWorkflows, until } from '../transfers/served';

/** What operators do to a transfer by Temporal's own means is in the audit log once, as what they do by the command line. */

jest.setTimeout(120_000);

const served = new ServedWorkflows();

/** As the worker records them. */
const recording = (): Partial<TransferActivities> => ({
  recordOperatorAct: (given) =>
    recordOperatorAct({ database: served.fixture.database, findActIdentity: actIdentitiesIn(served.client) }, given),
});
/** What those who have acted call themselves, newest first. */
const identities = async (txId: string) =>
  (await listAuditLog(served.fixture.database.manager, { subject: txId, limit: 50 })).flatMap((row) =>
    row.actor_type === 'operator' ? [row.detail.stated_identity ?? null] : [],
  );

const acts = async (txId: string) =>
  (await listAuditLog(served.fixture.database.manager, { subject: txId, limit: 50 })).flatMap((row) =>
    row.actor_type === 'operator' ? [[row.action, row.outcome, row.actor_id, row.detail.status]] : [],
  );

test('a retry, an abandonment and a cancellation that are sent to Temporal itself leave a row each, and those of the command line none beside theirs', async () => {
  let isRefused = true;
  await served.serve({
    ledger: recording(),
    sign: () => {
      if (isRefused) throw ApplicationFailure.create({ type: 'intent_mismatch', message: 'no', nonRetryable: true });
    },
  });
  const txId = await served.submit();
  const run = served.client.workflow.getHandle(transferWorkflowId(txId));
  // the step stays what it was while the run reads the rows after an update
  const isParked = () => until('parked', async () => (await run.query(possibleUpdatesQuery)).abandon);
  await isParked();

  expect(await run.executeUpdate(retryUpdate)).toEqual({ status: 'retrying' });
  const retried = ['transfer.retried', 'success', 'temporal', 'NEEDS_ATTENTION'];
  expect(await acts(txId)).toEqual([retried]);

  // nobody has asked the authoriser for it: it is parked again
  await isParked();
  expect(await run.executeUpdate(abandonUpdate)).toEqual({ status: 'abandoning' });
  const abandoned = ['transfer.abandoned', 'success', 'temporal', 'NEEDS_ATTENTION'];
  expect(await acts(txId)).toEqual([abandoned, retried]);
  await until('not abandoned', async () => (await served.fixture.transaction(txId)).failure_code === 'not_cancellable');

  await run.cancel();
  const cancelled = ['transfer.cancelled', 'refused', 'temporal', 'NEEDS_ATTENTION'];
  await until('the cancellation is on record', async () => (await acts(txId)).length === 3);
  expect(await acts(txId)).toEqual([cancelled, abandoned, retried]);

  await isParked();
  expect(await served.operations.retry(txId)).toBe('retrying');
  // the process and host of this client; nobody has looked whether it is true
  const { identity } = served.client.options;
  expect(identity).toMatch(/^\d+@/);
  expect(await identities(txId)).toEqual([null, identity, identity, identity]);
  const byName = ['transfer.retried', 'success', process.env.GATEWAY_OPERATOR ?? userInfo().username, 'NEEDS_ATTENTION'];
  expect(await acts(txId)).toEqual([byName, cancelled, abandoned, retried]);

  // what a validator refuses has not been done, and leaves nothing
  await isParked();
  isRefused = false;
  expect(await served.operations.abandon(txId)).toBe('abandoning');
  await until('abandoned', async () => (await run.query(statusQuery)).step === 'confirm');
  await expect(run.executeUpdate(abandonUpdate)).rejects.toMatchObject({ cause: { type: 'business_error' } });
  expect((await acts(txId)).map(([action, , actor]) => [action, actor])).toEqual([
    ['transfer.abandoned', byName[2]],
    ...[byName, cancelled, abandoned, retried].map(([action, , actor]) => [action, actor]),
  ]);
  await served.ends(txId, 'FAILED');
  await run.result().catch(() => undefined);
  await booksAgree(served.fixture);
  await served.record(transferWorkflowId(txId), 'transfer-failed-acts-with-identity');

  const { database } = served.fixture;
  await sealAuditLog(database);
  expect((await verifyAuditLog(database)).findings).toEqual([]);
});

test('Temporal can put an act on record that never was, by `temporal`, or leave out a later one of the same id; the login reads none', async () => {
  await served.serve();
  const txId = await served.submit();
  const given = { txId, act: 'retry', actId: 'of an update' } as const;
  const { database } = served.fixture;
  for (let times = 0; times < 2; times += 1)
    await database.transaction(async (manager) => {
      await manager.query('set local role gateway_worker');
      // the row does not wait for an answer about who it was
      const findActIdentity = () => Promise.reject(new Error('Temporal is away'));
      await recordOperatorAct({ database: { manager } as typeof database, findActIdentity }, given);
      await expect(manager.query('savepoint s').then(() => manager.query('select from audit_events'))).rejects.toThrow(/denied/);
      await manager.query('rollback to savepoint s');
    });
  expect((await acts(txId)).map(([action, , actor]) => [action, actor])).toEqual([['transfer.retried', 'temporal']]);
  // of the same update, and no other act
  const ids = [given, { ...given, act: 'abandon' as const }, { ...given, actId: 'other' }].map(operatorActId);
  expect(new Set(ids).size).toBe(3);
});
