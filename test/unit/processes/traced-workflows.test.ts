import { ApplicationFailure, CancelledFailure, defaultPayloadConverter, type Headers, type Payload } from '@temporalio/common';
import type { WorkflowExecuteInput } from '@temporalio/workflow';
import * as workflow from '@temporalio/workflow';
import { traceHeader } from '../../../src/messages/tracing';
import { setTracer, type Tracer } from '../../../src/platform/tracing/tracing';
import { tracedWorker } from '../../../src/processes/traced-worker';
import { interceptors } from '../../../workflows/tracing';

/** What of a run is recorded, and headers that somebody else has written. */

const mockEnded: [string, string?][] = [];
jest.mock('@temporalio/workflow', () => ({
  ...jest.requireActual<typeof workflow>('@temporalio/workflow'),
  proxySinks: () => ({ tracing: { ended: (...args: [string, string?]) => void mockEnded.push(args) } }),
}));
beforeEach(() => {
  mockEnded.length = 0;
});
afterEach(() => setTracer(undefined));

const startedBy = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const readable = defaultPayloadConverter.toPayload(startedBy);
const unreadable: Payload[] = [
  { metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.from('x') },
  { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{') },
  { data: Buffer.from('x') },
  defaultPayloadConverter.toPayload({ traceId: startedBy }),
];

/** Runs a workflow function with the header; returns the headers of an activity that it schedules. */
async function run(header: Payload | undefined, execute: () => Promise<unknown>) {
  const { inbound, outbound } = interceptors();
  const input: WorkflowExecuteInput = { args: [], headers: header ? { [traceHeader]: header } : {} };
  const done = inbound?.[0]?.execute?.(input, execute);
  let scheduled: object = {};
  const next = ({ headers }: { headers: object }) => Promise.resolve((scheduled = headers));
  await outbound?.[0]?.scheduleActivity?.({ headers: {} } as never, next);
  await done?.catch(() => undefined);
  await new Promise(setImmediate);
  return scheduled;
}

describe('a run', () => {
  test('is recorded when it completes', async () => {
    expect(await run(readable, () => Promise.resolve('done'))).toEqual({ [traceHeader]: readable });
    expect(mockEnded).toEqual([[startedBy]]);
  });

  test.each([
    [ApplicationFailure.nonRetryable('no'), 'ApplicationFailure'],
    [new CancelledFailure('cancelled'), 'CancelledFailure'],
    [new workflow.ContinueAsNew({}), 'ContinueAsNew'],
  ])('is recorded when it ends by %p', async (error, name) => {
    await run(readable, () => Promise.reject(error));
    expect(mockEnded).toEqual([[startedBy, name]]);
  });

  test.each([new TypeError('a fault in the code'), new Error('another one'), 'a text'])(
    'is not recorded when its task alone fails and is tried again: %p',
    async (error) => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- whatever is thrown
      await run(readable, () => Promise.reject(error));
      expect(mockEnded).toEqual([]);
    },
  );

  test.each([undefined, ...unreadable])('has no trace by a header that cannot be read: %#', async (header) => {
    expect(await run(header, () => Promise.resolve('done'))).toEqual({});
    expect(mockEnded).toEqual([]);
  });
});

describe('an activity', () => {
  const perform = (header: Payload | undefined) => {
    const below: string[] = [];
    setTracer({
      begin: () => undefined,
      below: <T>(parent: string, work: () => T) => (below.push(parent), work()),
    } as unknown as Tracer);
    const info = {
      activityType: 'deliverNext',
      attempt: 1,
      taskQueue: 'main',
      workflowExecution: { workflowId: 'w', runId: 'r' },
    };
    const inbound = tracedWorker.interceptors.activity[0]?.({ info } as never).inbound;
    const headers: Headers = header ? { [traceHeader]: header } : {};
    return { below, result: inbound?.execute?.({ args: [], headers }, () => Promise.resolve('done')) };
  };

  test.each([undefined, ...unreadable])('is carried out, without a span, by a header that cannot be read: %#', async (header) => {
    const { below, result } = perform(header);
    expect(await result).toBe('done');
    expect(below).toEqual([]);
  });

  test('has a span below that of its run', async () => {
    const { below, result } = perform(readable);
    expect(await result).toBe('done');
    expect(below).toEqual([expect.stringContaining(startedBy.slice(3, 35))]);
  });
});
