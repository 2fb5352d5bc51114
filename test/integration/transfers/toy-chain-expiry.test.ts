import { retryUpdate } from '../../../src/messages/transfer';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { findTransaction } from '../../../src/transactions/state';
import { observationSignaller, transferWorkflowsOn } from '../../../src/transfers/start/workflows';
import { buildTransferRequest } from '../../factories';
import { lifeBlocks } from '../../toy-chain/client';
import { createToyFixture, type ToyFixture } from '../../toy-chain/fixture';
import { listAddress } from '../screening/factors';
import { ServedChain, until } from './served';

/** Attempts that expire: what follows one of which the chain has proven that it can never execute it. */

jest.setTimeout(120_000);

const served = new ServedChain<ToyFixture>(() => createToyFixture({ stuckAfterMs: 1_000 }));
let fixture: ToyFixture;
beforeEach(() => {
  fixture = served.fixture;
});

const payment = () => ({ tokenSymbol: 'TOY', amount: '99.985', toAddress: fixture.outside });
const handleOf = (txId: string) => served.client.workflow.getHandle(transferWorkflowId(txId));
const record = (txId: string, name: string) => served.record(transferWorkflowId(txId), name);
const kinds = async (txId: string) => (await fixture.attempts(txId)).map(({ kind }) => kind);
const follow = () => fixture.follow({ signalTransfer: observationSignaller(served.client) });
/** Nothing that was sent is executed, and all of it expires. */
const expire = async () => {
  for (const id of fixture.toy.pooled) fixture.toy.drop(id);
  fixture.toy.mine(lifeBlocks + fixture.chain.finalityDepth);
  await follow();
};
const ends = (txId: string, as: string) =>
  until(`${txId} is ${as}`, async () => {
    fixture.toy.mine();
    await follow();
    return (await served.status(txId)) === as;
  });

test('a reissue a day after signing has begun comes too late: the transfer fails by its proof', async () => {
  await served.serve();
  fixture.toy.holdsArrivals = true;
  const txId = await served.submit(payment());
  await until('in the pool', () => Promise.resolve(fixture.toy.pooled.length > 0));
  // a day passes, which no process may write
  await fixture.database.query(`set local session_replication_role = replica;
    update transactions set signing_begun_at = signing_begun_at - interval '25 hours'`);
  await expire();
  await handleOf(txId)
    .executeUpdate(retryUpdate)
    .catch(() => undefined);
  await expect(handleOf(txId).result()).rejects.toMatchObject({ cause: { type: 'expired' } });
  expect(await served.status(txId)).toBe('FAILED');
  expect(await kinds(txId)).not.toContain('reissue');
  expect(await fixture.balance(fixture.alice, 'TOY')).toMatchObject({ locked: 0n });
  await record(txId, 'transfer-failed-reissue-too-late');
});

test('a rebuilt transfer whose attempt has expired is reissued, and its old bytes are not signed', async () => {
  const request = buildTransferRequest(fixture.alice, fixture.chain, payment());
  const { txId } = await fixture.ledger.lockTransfer(request);
  const next = { txId, attempt: 1, kind: 'first' } as const;
  const begun = await fixture.ledger.beginAttempt({ ...next, prepared: await fixture.onChain.prepareAttempt(next) });
  expect(begun).toMatchObject({ outcome: 'begun' });
  await expire();
  await served.serve();
  await transferWorkflowsOn(served.client).start(await findTransaction(fixture.database.manager, txId));
  // before further blocks, with which the reissue would expire as well
  await until('in the pool', () => Promise.resolve(fixture.toy.pooled.length > 0));
  await ends(txId, 'CONFIRMED');
  expect((await fixture.attempts(txId)).map(({ kind, signed }) => [kind, signed !== null])).toEqual([
    ['first', false],
    ['reissue', true],
  ]);
  await record(txId, 'transfer-confirmed-rebuilt-impossible');
});

test('abandoned by another run after it was sent: no reissue is ordered, and it ends once it has expired', async () => {
  const { alice, chain, database, getFamily, ledger, outside } = fixture;
  await served.serve();
  fixture.toy.holdsArrivals = true;
  const txId = await served.submit(payment());
  await until('in the pool', () => Promise.resolve(fixture.toy.pooled.length > 0));
  await listAddress(database, alice, outside, { chain: chain.name, family: chain.family, getFamily });
  await ledger.abandonTransfer({ txId });
  await expire();
  await ends(txId, 'FAILED');
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'address_blacklisted' });
  expect(await kinds(txId)).not.toContain('reissue');
  await record(txId, 'transfer-failed-abandoned-before-reissue');
});

test('abandoned by another run before its order is renewed: nothing is ordered any more, and its expiry is waited for', async () => {
  const { alice, chain, database, getFamily, ledger, outside } = fixture;
  await served.serve({
    authoriser: {
      beginSigning: async (input) => {
        if (input.kind === 'resume') {
          await listAddress(database, alice, outside, { chain: chain.name, family: chain.family, getFamily });
          await ledger.abandonTransfer({ txId: input.txId });
        }
        const answer = await ledger.beginSigning(input);
        return answer.outcome === 'begun' ? { ...answer, expiresAtMs: Date.now() } : answer;
      },
    },
  });
  const txId = await served.submit(payment());
  await ends(txId, 'FAILED');
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'address_blacklisted' });
  expect((await fixture.attempts(txId)).map(({ signed }) => signed)).toEqual([null]);
  await record(txId, 'transfer-failed-abandoned-before-order');
});
