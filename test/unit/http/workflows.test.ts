import { type Client, ServiceError, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { searchAttributes } from '../../../src/messages/progress';
import { transferWorkflowsOn } from '../../../src/transfers/start/workflows';

const transfer = {
  ...({ txId: 't', clientId: 'c', walletId: 'w', transactionType: 'OUTBOUND', requestId: 'r', retryOf: null } as const),
  ...{ chain: 'ethereum', tokenSymbol: 'USDC', amount: 25_500_000n, decimals: 6 },
  fromAddress: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  toAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};
const grpc = (code: number) => Object.assign(new Error('grpc'), { code, details: '', metadata: {} });
const away = new ServiceError('failed', { cause: grpc(14) });

interface Behaviour {
  start?: (type: string, options: object) => Promise<unknown>;
  signal?: (definition: { name: string }) => Promise<unknown>;
  query?: () => Promise<unknown>;
}

/** The part of a client that the calls use. */
const workflows = ({ start, signal, query }: Behaviour) =>
  transferWorkflowsOn({
    connection: { withDeadline: (_at: number, calls: () => Promise<unknown>) => calls() },
    workflow: { start, getHandle: () => ({ signal, query }) },
  } as unknown as Client);
const failWith = (error: Error) => () => Promise.reject(error);

describe('start', () => {
  test('starts transfer-<tx_id> with only its id, and never twice', async () => {
    const start = jest.fn().mockResolvedValue({});
    expect(await workflows({ start }).start(transfer)).toBe('started');
    expect(start).toHaveBeenCalledWith(
      'transfer',
      expect.objectContaining({
        workflowId: 'transfer-t',
        args: [{ txId: 't' }],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: '25.5 USDC on ethereum to 0x70997970…dc79C8',
        staticDetails: expect.stringContaining(transfer.toAddress),
        typedSearchAttributes: expect.arrayContaining([{ key: searchAttributes.walletId, value: 'w' }]),
      }),
    );
  });
  test('reports that it has run before', async () => {
    const closed = new WorkflowExecutionAlreadyStartedError('closed', 'transfer-t', 'transfer');
    expect(await workflows({ start: failWith(closed) }).start(transfer)).toBe('closed');
  });
  test('fails while the workflow service does not answer, to be tried again', async () => {
    await expect(workflows({ start: failWith(away) }).start(transfer)).rejects.toBe(away);
  });
});

describe('signal', () => {
  test.each([
    ['approved', 'transferApproved'],
    ['ended', 'transferEnded'],
  ] as const)('%s is %s', async (news, name) => {
    const signal = jest.fn().mockResolvedValue(undefined);
    expect(await workflows({ signal }).signal('t', news)).toBe('sent');
    expect(signal).toHaveBeenCalledWith(expect.objectContaining({ name }));
  });
  test('reports that the workflow is not running', async () => {
    const gone = new WorkflowNotFoundError('gone', 'transfer-t', undefined);
    expect(await workflows({ signal: failWith(gone) }).signal('t', 'approved')).toBe('gone');
  });
  test('fails while the workflow service does not answer, to be tried again', async () => {
    await expect(workflows({ signal: failWith(away) }).signal('t', 'ended')).rejects.toBe(away);
  });
});

test('live never fails', async () => {
  expect(await workflows({ query: failWith(away) }).live('t')).toBeNull();
});
