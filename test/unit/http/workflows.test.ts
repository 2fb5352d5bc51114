import {
  type Client,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import type { TransferRequest } from '../../../src/messages/transfer';
import { transferWorkflowsOn } from '../../../src/transfers/workflows';

const request = { txId: 't', clientId: 'c', chain: 'ethereum', tokenSymbol: 'USDC', requestId: 'r' } as TransferRequest;
const grpc = (code: number) => Object.assign(new Error('grpc'), { code, details: '', metadata: {} });
const service = (code: number) => new ServiceError('failed', { cause: grpc(code) });
const refused = (type: string) =>
  new WorkflowUpdateFailedError(
    'failed',
    ApplicationFailure.create({
      type,
      message: 'why',
      nonRetryable: true,
      details: [{ fields: [{ field: 'amount', message: 'm' }] }],
    }),
  );

interface Behaviour {
  alive?: () => Promise<unknown>;
  submit?: () => Promise<unknown>;
  update?: () => Promise<unknown>;
  query?: () => Promise<unknown>;
  result?: () => Promise<unknown>;
}

/** As much of a client as the calls touch. */
function client({ alive = () => Promise.resolve(), submit, update, query, result }: Behaviour): Client {
  return {
    connection: {
      withDeadline: (_at: number, calls: () => Promise<unknown>) => calls(),
      workflowService: { getSystemInfo: alive },
    },
    workflow: { executeUpdateWithStart: submit, getHandle: () => ({ executeUpdate: update, query, result }) },
  } as unknown as Client;
}
const submit = (behaviour: Behaviour) => transferWorkflowsOn(client(behaviour)).submit(request);
const failWith = (error: Error) => () => Promise.reject(error);

describe('submit', () => {
  test('hands over the first answer', async () => {
    expect(await submit({ submit: () => Promise.resolve({ txId: 't', status: 'PENDING' }) })).toEqual({
      txId: 't',
      status: 'PENDING',
    });
  });
  test('a refusal keeps its code, message and fields', async () => {
    await expect(submit({ submit: failWith(refused('invalid_parameter')) })).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: 'why',
      fields: [{ field: 'amount' }],
    });
  });
  test('is unavailable when there is no sign of life, and starts nothing', async () => {
    const started = jest.fn();
    await expect(submit({ alive: failWith(service(14)), submit: started })).rejects.toMatchObject({ code: 'unavailable' });
    expect(started).not.toHaveBeenCalled();
  });
  test.each<[string, Error]>([
    ['a time-out', new WorkflowUpdateRPCTimeoutOrCancelledError('late')],
    ['a deadline', service(4)],
    ['a lost connection', service(14)],
    ['a failure of no known code', refused('TypeError')],
    ['anything else', new Error('?')],
  ])('does not know the outcome after %s', async (_, error) => {
    await expect(submit({ submit: failWith(error) })).rejects.toMatchObject({ code: 'outcome_unknown', extra: { tx_id: 't' } });
  });
  test('null when the workflow has closed', async () => {
    expect(
      await submit({ submit: failWith(new WorkflowExecutionAlreadyStartedError('closed', 'transfer-t', 'transfer')) }),
    ).toBeNull();
  });
});

describe('refusalOf', () => {
  const refusalOf = (behaviour: Behaviour) => transferWorkflowsOn(client(behaviour)).refusalOf('t');
  test('is the code the workflow ended with', async () => {
    expect(
      await refusalOf({ result: () => Promise.resolve({ txId: 't', status: 'REFUSED', code: 'business_error' }) }),
    ).toMatchObject({ code: 'business_error' });
  });
  test('is outcome_unknown when that cannot be told', async () => {
    expect(await refusalOf({ result: failWith(service(4)) })).toMatchObject({ code: 'outcome_unknown' });
  });
});

describe('cancel', () => {
  const cancel = (behaviour: Behaviour) => transferWorkflowsOn(client(behaviour)).cancel('t', { userId: 'u', requestId: 'r' });
  test.each<[string, Error, string]>([
    ['the workflow is gone', new WorkflowNotFoundError('gone', 'transfer-t', undefined), 'not_cancellable'],
    ['signing has begun', refused('not_cancellable'), 'not_cancellable'],
    ['no answer comes', service(4), 'outcome_unknown'],
    ['the server drops it again and again', service(9), 'outcome_unknown'],
  ])('when %s', async (_, error, code) => expect(cancel({ update: failWith(error) })).rejects.toMatchObject({ code }));
  test('asks again when the server has dropped the update', async () => {
    const update = jest.fn().mockRejectedValueOnce(service(9)).mockResolvedValueOnce({ status: 'CANCELLED' });
    await cancel({ update });
    expect(update).toHaveBeenCalledTimes(2);
  });
});

describe('approved', () => {
  const approved = (signal: () => Promise<unknown>) =>
    transferWorkflowsOn({
      ...client({}),
      workflow: { getHandle: () => ({ signal }) },
    } as unknown as Client).approved('t');
  test('is told, or gone for good', async () => {
    expect(await approved(() => Promise.resolve())).toBe('told');
    expect(await approved(failWith(new WorkflowNotFoundError('gone', 'transfer-t', undefined)))).toBe('gone');
  });
  test('fails while the workflow service does not answer, to be repaired', async () => {
    await expect(approved(failWith(service(14)))).rejects.toBeInstanceOf(ServiceError);
  });
});

test('live never fails', async () => {
  expect(await transferWorkflowsOn(client({ query: failWith(service(4)) })).live('t')).toBeNull();
});
