import { type Client, WorkflowFailedError } from '@temporalio/client';
import type { AttestedGroupKey, GenerateAccountKeyInput } from '../messages/key-generation';
import { searchAttributes } from '../messages/progress';
import { mainTaskQueue } from '../messages/task-queues';
import { generateAccountKeyWorkflowId, workflowTypes } from '../messages/workflow-ids';
import { GatewayError } from '../platform/errors';
import { isTemporalDown, withinMs } from '../platform/temporal';
import type { KeyedAccount } from './attested-keys';

/** How long a request waits for the key of its account. */
export const keyWaitMs = 10_000;
/** Less: the run has ended when the request is answered, and the next one finds what it has left. */
const runTimeoutMs = keyWaitMs - 1_000;

/** Has the nodes generate the key of an account. */
export interface AccountKeyGeneration {
  /**
   * Waits 10 s at most for a key that the nodes say to have bound to the account; it is for the caller to verify that. A run for the same
   * account that has not ended is joined, also one that was begun for another key id.
   * @throws GatewayError unavailable when a node, the worker, the authoriser or Temporal does not do its part in time.
   */
  generate(account: KeyedAccount, input: Omit<GenerateAccountKeyInput, 'accountId'>): Promise<AttestedGroupKey>;
}

export function accountKeyGenerationOn(temporal: Client, waitMs = keyWaitMs): AccountKeyGeneration {
  return {
    generate: async ({ accountId, walletId, clientId }, input) => {
      const run = () =>
        temporal.workflow.execute<(input: GenerateAccountKeyInput) => Promise<AttestedGroupKey>>(
          workflowTypes.generateAccountKey,
          {
            workflowId: generateAccountKeyWorkflowId(accountId),
            taskQueue: mainTaskQueue,
            args: [{ accountId, ...input }],
            workflowExecutionTimeout: Math.min(runTimeoutMs, waitMs),
            workflowIdConflictPolicy: 'USE_EXISTING',
            workflowIdReusePolicy: 'ALLOW_DUPLICATE',
            typedSearchAttributes: [
              { key: searchAttributes.clientId, value: clientId },
              { key: searchAttributes.walletId, value: walletId },
            ],
            staticSummary: 'Key of a new account',
          },
        );
      try {
        return await withinMs(temporal, waitMs, run);
      } catch (error) {
        if (!(error instanceof WorkflowFailedError) && !isTemporalDown(error)) throw error;
        throw keyUnavailable(error);
      }
    },
  };
}

export const keyUnavailable = (cause?: unknown): GatewayError =>
  new GatewayError('unavailable', 'The signing nodes did not generate a key for the account in time; nothing was created', {
    cause,
    retryAfterSeconds: 5,
  });
