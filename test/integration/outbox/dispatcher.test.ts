import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { OutboxDispatcher } from '../../../src/outbox/dispatcher';
import { type Deliveries, enqueue, type OutboxKind, type OutboxMessage, WorkflowOutbox } from '../../../src/outbox/outbox';
import { newId } from '../../../src/platform/ids';
import { createLogger, type Logger } from '../../../src/platform/logging';
import { createDeliveries } from '../../../src/processes/workflow-outbox';
import { StartLimits } from '../../../src/transfers/start/start-limits';
import { countSponsored } from '../../../src/x402/settlement/send-approval';
import { GenerationLimits } from '../../../src/wallets/generation-limits';
import type { TransferWorkflows } from '../../../src/transfers/start/workflows';
import { buildClient, buildTransferRequest } from '../../factories';
import { roomyGenerationLimits, roomyStartLimits } from '../../ledger';
import { createFixture, ether, ethereum, fund, type Fixture } from '../ledger/fixture';

let fixture: Fixture;
let database: DataSource;
let clientId: string;
beforeAll(async () => {
  fixture = await createFixture({ poolSize: 6 });
  ({ database } = fixture);
  await fund(fixture, 'ETH', 10n * ether);
  ({ clientId } = await buildClient(database));
});
afterAll(() => fixture.close());
afterEach(() => database.query('truncate workflow_outbox'));

const silent = createLogger('test', 'fatal');
const message = (kind: OutboxKind, subjectId = newId()): OutboxMessage => ({ kind, subjectId, clientId });
const write = async (count: number, kind: OutboxKind = 'start_transfer'): Promise<string[]> => {
  const messages = Array.from({ length: count }, () => message(kind));
  for (const it of messages) await enqueue(database.manager, it);
  return messages.map(({ subjectId }) => subjectId);
};
const due = () => database.query('update workflow_outbox set deliver_after = clock_timestamp()');
/** Two seconds pass on a busy machine before a dispatcher looks: the time that the writers of these messages have, thirty times as long. */
const prolong = (subjects: string[]) =>
  database.query(
    `update workflow_outbox set deliver_after = created_at + 30 * (deliver_after - created_at) where subject_id = any($1::uuid[])`,
    [subjects],
  );
const left = async () => {
  const rows = await database.query<{ subject_id: string }[]>('select subject_id from workflow_outbox order by outbox_id');
  return rows.map((row) => row.subject_id);
};
const toAll = (deliver: Deliveries[OutboxKind]): Deliveries => ({
  start_transfer: deliver,
  start_key_generation: deliver,
  transfer_approved: deliver,
  transfer_ended: deliver,
});

describe('the dispatcher', () => {
  test('leaves new messages to their writer', async () => {
    const [subject = ''] = await write(1);
    await prolong([subject]);
    const seen: string[] = [];
    const dispatcher = new OutboxDispatcher(
      database,
      toAll(({ subjectId }) => (seen.push(subjectId), Promise.resolve('delivered'))),
      silent,
    );
    await dispatcher.dispatch();
    expect(seen).toEqual([]);
    await due();
    await dispatcher.dispatch();
    expect([seen, await left()]).toEqual([[subject], []]);
  });

  test('two dispatchers deliver every message once', async () => {
    const subjects = await write(60);
    await due();
    const seen: string[] = [];
    const deliveries = toAll(async ({ subjectId }) => {
      seen.push(subjectId);
      await delay(20);
      return 'delivered';
    });
    const copies = [1, 2].map(() => new OutboxDispatcher(database, deliveries, silent));
    await Promise.all(copies.map((copy) => copy.dispatch()));
    expect(seen.sort()).toEqual(subjects.sort());
    expect(await left()).toEqual([]);
  });

  test('continues after a message that always fails, logs it, and keeps it', async () => {
    const [bad, ...good] = await write(25);
    await due();
    const log = { warn: jest.fn(), info: jest.fn() };
    let failing = true;
    const deliveries = toAll(({ subjectId }) =>
      failing && subjectId === bad ? Promise.reject(new Error('no')) : Promise.resolve('delivered'),
    );
    const dispatcher = new OutboxDispatcher(database, deliveries, log as unknown as Logger);
    for (let i = 0; i < 2; i += 1) await dispatcher.dispatch();
    expect(await left()).toEqual([bad]);
    expect(good.length).toBe(24);
    await due();
    await dispatcher.dispatch();
    failing = false;
    await due();
    await dispatcher.dispatch();
    expect(await left()).toEqual([]);
    expect(log.warn).toHaveBeenCalledTimes(2);
  });

  /** Of a client that has posted all of them at once, and of another one after it. */
  const writeOfTwo = async (turn = 0) => {
    const onChain = { kind: 'start_transfer', chain: 'ethereum' } as const;
    for (let count = 0; count < 60; count += 1) await enqueue(database.manager, { ...onChain, subjectId: newId(), clientId });
    const other = { ...onChain, subjectId: newId(), clientId: fixture.client.clientId };
    await enqueue(database.manager, other);
    await database.query(
      `update workflow_outbox set deliver_after = clock_timestamp(), turn = case when subject_id = $1 then $2 else turn end`,
      [other.subjectId, turn],
    );
    return other;
  };

  // in front of it are fewer than a batch, and more
  test.each([0, 60])(
    'a client without room keeps no other one of its chain waiting (turn %d), and is asked about once a round',
    async (turn) => {
      const other = await writeOfTwo(turn);
      const asked = { busy: 0, other: 0 };
      const deliveries = toAll(({ clientId: of }) => {
        asked[of === clientId ? 'busy' : 'other'] += 1;
        return Promise.resolve(of === clientId ? 'client_later' : 'delivered');
      });
      await new OutboxDispatcher(database, deliveries, silent).dispatch();
      expect(await left()).not.toContain(other.subjectId);
      expect(await left()).toHaveLength(60);
      // what is asked about at the same time
      expect(asked.other).toBe(1);
      expect(asked.busy).toBeLessThanOrEqual(10);
    },
  );

  test('where the chain has room for nobody, nobody further is asked about', async () => {
    await writeOfTwo();
    let asked = 0;
    await new OutboxDispatcher(
      database,
      toAll(() => ((asked += 1), Promise.resolve('later'))),
      silent,
    ).dispatch();
    expect(asked).toBe(10);
    expect(await left()).toHaveLength(61);
  });

  test('a kind that waits for room does not delay the others', async () => {
    const starts = await write(3);
    await write(2, 'transfer_ended');
    await due();
    const deliveries = { ...toAll(() => Promise.resolve('delivered')), start_transfer: () => Promise.resolve('later' as const) };
    await new OutboxDispatcher(database, deliveries, silent).dispatch();
    expect(await left()).toEqual(starts);
  });
});

describe('the writer', () => {
  test('delivers at once and deletes the message; what fails stays', async () => {
    const [first, second] = [message('transfer_ended'), message('transfer_ended')];
    for (const it of [first, second]) await enqueue(database.manager, it);
    const deliveries = toAll(({ subjectId }) =>
      subjectId === second.subjectId ? Promise.reject(new Error('away')) : Promise.resolve('delivered'),
    );
    const outbox = new WorkflowOutbox(database, deliveries, silent);
    for (const it of [first, second]) outbox.deliverSoon(it);
    await outbox.settled();
    expect(await left()).toEqual([second.subjectId]);
  });

  test('has a bounded number of deliveries under way; the rest is the dispatcher’s', async () => {
    const messages = Array.from({ length: 30 }, () => message('transfer_ended'));
    for (const it of messages) await enqueue(database.manager, it);
    const outbox = new WorkflowOutbox(
      database,
      toAll(async () => (await delay(50), 'delivered')),
      silent,
    );
    for (const it of messages) outbox.deliverSoon(it);
    await outbox.settled();
    expect(await left()).toHaveLength(22);
  });

  test('leaves a message to the dispatcher while earlier ones of its kind and chain wait', async () => {
    await write(1, 'transfer_ended');
    await due();
    const [late, other] = [message('transfer_ended'), message('transfer_approved')];
    for (const it of [late, other]) await enqueue(database.manager, it);
    await prolong([late.subjectId, other.subjectId]);
    const seen: string[] = [];
    const outbox = new WorkflowOutbox(
      database,
      toAll(({ subjectId }) => (seen.push(subjectId), Promise.resolve('delivered'))),
      silent,
    );
    for (const it of [late, other]) outbox.deliverSoon(it);
    await outbox.settled();
    expect(seen).toEqual([other.subjectId]);
    // at once: by its turn, and not by the time that its writer has
    await new OutboxDispatcher(
      database,
      toAll(({ subjectId }) => (seen.push(subjectId), Promise.resolve('delivered'))),
      silent,
    ).dispatch();
    expect(seen).toContain(late.subjectId);
  });

  test('does not wait for a message that the dispatcher has locked', async () => {
    const it = message('transfer_ended');
    await enqueue(database.manager, it);
    const outbox = new WorkflowOutbox(
      database,
      toAll(() => Promise.resolve('delivered')),
      silent,
    );
    await database.transaction(async (manager) => {
      await manager.query('select 1 from workflow_outbox for update');
      outbox.deliverSoon(it);
      await outbox.settled();
    });
    expect(await left()).toEqual([it.subjectId]);
  });

  test('a message that is written twice is stored once', async () => {
    const it = message('transfer_approved');
    for (let i = 0; i < 2; i += 1) await enqueue(database.manager, it);
    expect(await left()).toEqual([it.subjectId]);
  });
});

describe('a workflow that is not running', () => {
  const accepted = async () =>
    (await fixture.ledger.lockTransfer(buildTransferRequest(fixture.account, ethereum, { amount: '0.1' }))).txId;
  const deliver = async (kind: 'start_transfer' | 'transfer_approved' | 'transfer_ended', txId: string) => {
    const log = { error: jest.fn() };
    const workflows: TransferWorkflows = {
      start: () => Promise.resolve('closed'),
      signal: () => Promise.resolve('gone'),
      live: () => Promise.resolve(null),
    };
    const starts = new StartLimits(roomyStartLimits, countSponsored);
    const keyGeneration = { start: () => Promise.resolve() };
    const generations = new GenerationLimits(roomyGenerationLimits);
    const deliveries = createDeliveries({
      database,
      workflows,
      keyGeneration,
      starts,
      generations,
      log: log as unknown as Logger,
    });
    expect(await deliveries[kind](message(kind, txId))).toBe('delivered');
    return log.error.mock.calls.map(([fields]) => (fields as { alert: string }).alert);
  };

  test('has closed although its transfer is open: logs an alert', async () => {
    const txId = await accepted();
    expect(await deliver('start_transfer', txId)).toEqual(['transfer_without_workflow']);
    await database.query('truncate workflow_outbox');
    expect(await deliver('transfer_approved', txId)).toEqual(['transfer_without_workflow']);
  });
  test('has closed and its transfer has ended: logs nothing', async () => {
    const txId = await accepted();
    await fixture.ledger.cancelTransfer({ txId });
    expect(await deliver('start_transfer', txId)).toEqual([]);
    expect(await deliver('transfer_ended', txId)).toEqual([]);
  });
  test('has not started yet: it will read the row', async () => {
    expect(await deliver('transfer_approved', await accepted())).toEqual([]);
  });
});
