import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { AuthoriserActivities } from '../../src/messages/authoriser';
import type { NodeIndex, SigningPair } from '../../src/messages/nodes';
import type { MpcNodeActivities, SignTransactionRequest, TransactionSignatures } from '../../src/messages/signing';
import { authoriserTaskQueue, chainTaskQueue, mainTaskQueue, nodeTaskQueue } from '../../src/messages/task-queues';
import type { BeginSigning, BeginSigningResult, ChainActivities, TransferActivities } from '../../src/messages/transfer';
import { transferWorkflowId } from '../../src/messages/workflow-ids';
import { readTemporalOptions } from '../../src/platform/temporal-client';
import { stack, waitFor } from '../stack/client';
import type { schedule, Scheduled } from './schedule';
import { scheduleBundle } from './schedule-bundle';

/** The code of the refusal, as a workflow sees it. */
export class Refused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

type Input<Activities, Name extends keyof Activities> = Activities[Name] extends (input: infer I) => unknown ? I : never;
type Output<Activities, Name extends keyof Activities> = Activities[Name] extends (input: never) => Promise<infer O> ? O : never;

const openTo = ({ address, namespace }: { address: string; namespace: string }) => ({
  namespace,
  connectionOptions: { address },
});

/** Somebody who reaches Temporal and has no other access: schedules activities on the queues of authoriser and nodes. */
export class TemporalClient {
  private static isInstalled = false;

  private constructor(
    readonly client: Client,
    private readonly native: NativeConnection,
    private readonly worker: Worker,
    private readonly running: Promise<void>,
  ) {}

  /** `env`: of the process whose credentials are used; without it, the address alone. */
  static async connect(env?: NodeJS.ProcessEnv): Promise<TemporalClient> {
    if (!TemporalClient.isInstalled) Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
    TemporalClient.isInstalled = true;
    const { namespace, connectionOptions } = env ? readTemporalOptions(env) : openTo(stack().temporal);
    const [connection, native] = await Promise.all([
      Connection.connect(connectionOptions),
      NativeConnection.connect(connectionOptions),
    ]);
    const worker = await Worker.create({
      connection: native,
      namespace,
      taskQueue: `adversary-${randomUUID()}`,
      workflowBundle: await scheduleBundle(),
    });
    return new TemporalClient(new Client({ connection, namespace }), native, worker, worker.run());
  }

  /** @throws Refused with the code of the part that refuses. */
  node<Name extends keyof MpcNodeActivities>(
    node: NodeIndex,
    activity: Name,
    input: Input<MpcNodeActivities, Name>,
  ): Promise<Output<MpcNodeActivities, Name>> {
    return this.schedule({ taskQueue: nodeTaskQueue(node), activity, input });
  }

  /** @throws Refused */
  authoriser<Name extends keyof AuthoriserActivities>(
    activity: Name,
    input: Input<AuthoriserActivities, Name>,
  ): Promise<Output<AuthoriserActivities, Name>> {
    return this.schedule({ taskQueue: authoriserTaskQueue, activity, input });
  }

  /** A step of a workflow, which the worker does as readily when somebody else asks for it. @throws Refused */
  step<Name extends keyof TransferActivities>(
    activity: Name,
    input: Input<TransferActivities, Name>,
  ): Promise<Output<TransferActivities, Name>> {
    return this.schedule({ taskQueue: mainTaskQueue, activity, input });
  }

  /** @throws Refused */
  chain<Name extends keyof ChainActivities>(
    chain: string,
    activity: Name,
    input: Input<ChainActivities, Name>,
  ): Promise<Output<ChainActivities, Name>> {
    return this.schedule({ taskQueue: chainTaskQueue(chain), activity, input });
  }

  /** Ends the workflow of a transfer, which the API has just started. */
  async endWorkflow(txId: string): Promise<void> {
    const handle = this.client.workflow.getHandle(transferWorkflowId(txId));
    await waitFor(() =>
      handle.terminate('adversary').then(
        () => true,
        () => false,
      ),
    );
  }

  beginSigning(request: BeginSigning): Promise<BeginSigningResult> {
    return this.authoriser('beginSigning', request);
  }

  /** @throws Refused */
  sign(ordered: Omit<SignTransactionRequest, 'peer'>, { initiator, peer }: SigningPair): Promise<TransactionSignatures> {
    const { order, unsigned } = ordered;
    return this.node(initiator, 'signTransaction', { order, unsigned, peer });
  }

  /** What the activities of a workflow have returned: its history is readable for whoever reaches Temporal. */
  async results(workflowId: string): Promise<unknown[]> {
    const { events } = await this.client.workflow.getHandle(workflowId).fetchHistory();
    return (events ?? []).flatMap((event) => {
      const [payload] = event.activityTaskCompletedEventAttributes?.result?.payloads ?? [];
      return payload ? [defaultPayloadConverter.fromPayload(payload)] : [];
    });
  }

  async close(): Promise<void> {
    this.worker.shutdown();
    await this.running;
    await this.native.close();
    await this.client.connection.close();
  }

  private async schedule<T>(scheduled: Scheduled): Promise<T> {
    const { taskQueue } = this.worker.options;
    try {
      const run = { taskQueue, workflowId: `adversary-${randomUUID()}`, args: [scheduled] as [Scheduled] };
      return (await this.client.workflow.execute<typeof schedule>('schedule', run)) as T;
    } catch (error) {
      throw toRefused(error);
    }
  }
}

/** The failure of the activity is the innermost cause that has a type. */
function toRefused(error: unknown): unknown {
  let found: unknown = error;
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1) {
    const { type, message } = current as Error & { type?: unknown };
    if (typeof type === 'string') found = new Refused(type, message);
  }
  return found;
}
