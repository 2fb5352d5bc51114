import type { Client } from '@temporalio/client';
import { actIdentitiesIn } from '../../../src/transfers/operate/act-identity';
import { newId } from '../../../src/platform/ids';

/** Who has sent an act, as the history of the run says. */

const txId = newId();
const accepted = (updateId: string, identity?: string) => ({
  workflowExecutionUpdateAcceptedEventAttributes: { acceptedRequest: { meta: { updateId, identity } } },
});
const cancelled = (identity: string) => ({ workflowExecutionCancelRequestedEventAttributes: { identity } });

/** A Temporal with these pages of a history, newest first. */
function identities(...pages: object[][]) {
  const asked: object[] = [];
  const service = {
    getWorkflowExecutionHistoryReverse: (request: object) => {
      asked.push(request);
      const more = asked.length < pages.length;
      const events = pages[asked.length - 1] ?? [];
      return Promise.resolve({ history: { events }, nextPageToken: more ? Buffer.from([asked.length]) : null });
    },
  };
  const temporal = {
    options: { namespace: 'default' },
    connection: { workflowService: service, withDeadline: (_deadline: number, call: () => unknown) => call() },
  } as unknown as Client;
  return { find: actIdentitiesIn(temporal), asked };
}
const retry = { txId, act: 'retry', actId: 'u1', runId: 'r1' } as const;

test('of the update itself, in the run that it has come to', async () => {
  const { find, asked } = identities([accepted('u2', 'bob'), {}, cancelled('eve'), accepted('u1', 'temporal-cli:ann@laptop')]);
  expect(await find(retry)).toBe('temporal-cli:ann@laptop');
  expect(asked).toMatchObject([{ execution: { workflowId: `transfer-${txId}`, runId: 'r1' } }]);
  expect(await find({ ...retry, actId: 'u3' })).toBeNull();
});

test('of a request to cancel the run', async () => {
  const { find } = identities([accepted('r1', 'bob'), cancelled('eve')]);
  expect(await find({ txId, act: 'cancel', actId: 'r1', runId: 'r1' })).toBe('eve');
});

test.each([
  ['nothing is said', undefined, null],
  ['an empty text', '', null],
  [
    'what could be read otherwise than it is shown, and a long text',
    `é\n\u001b[2J${'x'.repeat(500)}`,
    `???[2J${'x'.repeat(114)}`,
  ],
])('%s', async (_what, said, shown) => {
  expect(await identities([accepted('u1', said)]).find(retry)).toBe(shown);
});

test('three pages are read at most', async () => {
  const found = identities([{}], [{}], [accepted('u1', 'ann')]);
  expect(await found.find(retry)).toBe('ann');
  const { find, asked } = identities([{}], [{}], [{}], [accepted('u1', 'ann')]);
  expect(await find(retry)).toBeNull();
  expect(asked).toHaveLength(3);
});
