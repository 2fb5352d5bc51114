import type { Client } from '@temporalio/client';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { createFollowActivity } from '../../../activities/follow';
import { withMappedErrors } from '../../../activities/errors';
import type { ChainDefinition, Hex } from '../../../src/chains/types';
import type { AuthoriserActivities } from '../../../src/messages/authoriser';
import { type NodeIndex, nodeIndexes } from '../../../src/messages/nodes';
import type { SigningClaims } from '../../../src/messages/order';
import type { MpcNodeActivities, SignTransactionRequest } from '../../../src/messages/signing';
import type { FollowerActivities } from '../../../src/messages/following';
import { followChainWorkflowId, transferWorkflowId, workflowTypes } from '../../../src/messages/workflow-ids';
import {
  authoriserTaskQueue,
  chainTaskQueue,
  followTaskQueue,
  mainTaskQueue,
  nodeTaskQueue,
} from '../../../src/messages/task-queues';
import type { BroadcastResult, ChainActivities, TransferActivities } from '../../../src/messages/transfer';
import { ChainRegistry } from '../../../src/chains/registry';
import { ObservationNotifier } from '../../../src/following/observation-notifier';
import { verifyLedger } from '../../../src/ledger/verify';
import { contractArtifacts } from '../../../dev/contracts';
import { verifyIntent } from '../../../src/mpc/verify-intent';
import { TransferOperations } from '../../../src/cli/transfer-operations';
import { findTransaction } from '../../../src/transactions/state';
import { observationSignaller, startTransferWorkflow } from '../../../src/transfers/start/workflows';
import { buildTransferRequest, keysOf } from '../../factories';
import type { TestLedger } from '../../ledger';
import { claimsOf } from '../../orders';
import { recordRun, type RecordedRun } from '../../replay/record-run';
import { type ServedTemporal, startTemporal, type TemporalOptions, workflowBundle } from '../../temporal';
import type { ChainFixture } from '../following/chain-fixture';
import { createFollowFixture, type FollowFixture } from '../following/fixture';

export const ether = 10n ** 18n;
const silent = { child: () => silent, warn() {}, error() {}, info() {} } as never;

type RequestChanges = Parameters<typeof buildTransferRequest>[2];

/** Activities that a test replaces, to make them fail. */
export interface Changes {
  ledger?: Partial<TransferActivities & Pick<TestLedger, 'recordSigned'>>;
  authoriser?: Partial<AuthoriserActivities>;
  chain?: Partial<ChainActivities>;
  sign?: (claims: SigningClaims, node: NodeIndex, peer: NodeIndex) => void | Promise<void>;
  node?: (node: NodeIndex) => Partial<MpcNodeActivities>;
}

/** Of the answer to Temporal's own query. */
interface Shown {
  currentDetails?: string;
}

/** The workflows of a build, and its version. */
export interface Build extends Pick<WorkerOptions, 'workerDeploymentOptions'> {
  bundle?: WorkerOptions['workflowBundle'];
}

/** Real rows and real workflows on a given chain, for every test of a file; a single key signs instead of the nodes. */
export class ServedChain<Fixture extends ChainFixture> {
  fixture!: Fixture;
  temporal!: ServedTemporal;
  private workers: { worker: Worker; done: Promise<void> }[] = [];
  private isFollowed = false;
  /** Of a test: what has not changed is not told again, since a workflow that is told waits anew before it asks the chain. */
  private notifier: ObservationNotifier | undefined;

  /** `createFixture`: for each test, with accounts that have funds. `checkAtEnd`: after every test, when nothing runs any more. */
  constructor(
    createFixture: () => Promise<Fixture>,
    private readonly checkAtEnd: () => Promise<void> = () => Promise.resolve(),
    temporalOptions: TemporalOptions = {},
  ) {
    beforeAll(async () => {
      this.temporal = await startTemporal(temporalOptions);
    });
    afterAll(() => this.temporal.teardown());
    beforeEach(async () => {
      this.fixture = await createFixture();
    });
    afterEach(() => this.stop());
  }

  get client(): Client {
    return this.temporal.client;
  }

  get operations(): TransferOperations {
    return new TransferOperations(this.fixture.database, this.client);
  }

  async serve(changes: Changes = {}): Promise<void> {
    await Promise.all([this.serveBuild(changes), this.serveOthers(changes)]);
  }

  /** What the worker process runs, of a build of its own where one is given. */
  async serveBuild(changes: Changes = {}, { bundle = workflowBundle, ...version }: Build = {}): Promise<void> {
    const { fixture } = this;
    const common = { ...this.common, ...version };
    this.run(
      await Promise.all([
        Worker.create({
          ...common,
          workflowBundle: bundle,
          taskQueue: mainTaskQueue,
          activities: withMappedErrors({ ...fixture.ledger, ...changes.ledger }, silent),
        }),
        Worker.create({
          ...common,
          taskQueue: chainTaskQueue(fixture.chain.name),
          activities: withMappedErrors({ ...fixture.onChain, ...changes.chain, ...this.storesFirst(changes) }, silent),
        }),
      ]),
    );
  }

  /** The authoriser, and the signing nodes that run. */
  async serveOthers(changes: Changes = {}, nodes: readonly NodeIndex[] = nodeIndexes): Promise<void> {
    const { fixture } = this;
    const keys = new Map([...keysOf(fixture.wallet, [fixture.alice, fixture.bob]), ...(fixture.ownKeys ?? [])]);
    const signTransaction = (node: NodeIndex) => async (request: SignTransactionRequest) => {
      const claims = claimsOf(request.order);
      await changes.sign?.(claims, node, request.peer);
      verifyIntent(claims, request.unsigned, {
        registry: new ChainRegistry([fixture.chain]),
        getFamily: fixture.getFamily,
        keys,
      });
      return { signatures: fixture.signatures(request.unsigned, claims.from) };
    };
    const { common } = this;
    this.run(
      await Promise.all([
        Worker.create({
          ...common,
          taskQueue: authoriserTaskQueue,
          activities: withMappedErrors({ ...authoriserOf(fixture), ...changes.authoriser }, silent),
        }),
        ...nodes.map((node) =>
          Worker.create({
            ...common,
            taskQueue: nodeTaskQueue(node),
            activities: withMappedErrors({ signTransaction: signTransaction(node), ...changes.node?.(node) }, silent),
          }),
        ),
      ]),
    );
  }

  private run(created: Worker[]): void {
    this.workers.push(...created.map((worker) => ({ worker, done: worker.run() })));
  }

  private get common() {
    const { nativeConnection: connection, namespace } = this.temporal;
    return { connection, namespace, shutdownGraceTime: 100 };
  }

  /** The follower as the worker runs it, until the test ends: its workflow and its activity, which signals the transfers. */
  async startFollower(): Promise<void> {
    const { name } = this.fixture.chain;
    this.isFollowed = true;
    const worker = await Worker.create({
      ...this.common,
      taskQueue: followTaskQueue(name),
      activities: withMappedErrors(this.follower(), silent),
    });
    this.workers.push({ worker, done: worker.run() });
    await this.client.workflow.start(workflowTypes.followChain, {
      workflowId: followChainWorkflowId(name),
      taskQueue: mainTaskQueue,
      args: [{ chain: name }],
    });
  }

  private follower(): FollowerActivities {
    const { options, client, chain, registry } = this.fixture;
    return createFollowActivity({
      ...{ ...options, registry, clients: new Map([[chain.name, client]]) },
      signalTransfer: observationSignaller(this.client),
    });
  }

  /** A test that replaces `broadcast` is about what is sent: the signatures are stored before it. */
  private storesFirst({ chain: { broadcast } = {}, ledger }: Changes): Partial<ChainActivities> {
    if (!broadcast) return {};
    const { recordSigned } = { ...this.fixture.ledger, ...ledger };
    return {
      broadcast: async (input) => {
        const { txId, attempt, signed } = input;
        if (signed) await recordSigned({ txId, attempt, ...signed });
        return broadcast(input);
      },
    };
  }

  async status(txId: string): Promise<string> {
    return String((await this.fixture.transaction(txId)).status);
  }

  async submit(changes: RequestChanges): Promise<string> {
    const request = buildTransferRequest(this.fixture.alice, this.fixture.chain, changes);
    await this.fixture.ledger.lockTransfer(request);
    // without the limit of a request, which a slow machine may exceed
    await startTransferWorkflow(this.client, await findTransaction(this.fixture.database.manager, request.txId), 'first');
    return request.txId;
  }

  /** What the Temporal UI shows of a transfer's run, as Markdown: the sentence first. */
  async shownDetails(txId: string): Promise<string> {
    const shown = await this.client.workflow.getHandle(transferWorkflowId(txId)).query<Shown>('__temporal_workflow_metadata');
    return shown.currentDetails ?? '';
  }

  /** With RECORD_HISTORIES=1 the history of a run becomes one of the replay tests. */
  record(workflowId: string, name: string, options?: RecordedRun): Promise<void> {
    return recordRun(this.client, workflowId, name, options);
  }

  /**
   * Mines and follows until the transfer is in this state, and tells its workflow what has changed, as the follower does. `isTold`: false where it
   * has to ask the chain by itself, which it does after 15 s at the earliest.
   */
  ends(txId: string, as: string, { isTold = true } = {}): Promise<void> {
    const { mine, follow, options } = this.fixture;
    this.notifier ??= new ObservationNotifier(observationSignaller(this.client), options.logger);
    const told = isTold ? { notifier: this.notifier } : {};
    return until(`${txId} is ${as}`, async () => {
      await mine();
      await follow(told);
      return (await this.status(txId)) === as;
    });
  }

  private async stop(): Promise<void> {
    for (const { worker } of this.workers) worker.shutdown();
    await Promise.all(this.workers.map(({ done }) => done));
    this.workers = [];
    this.notifier = undefined;
    // the workers of the next test would run it
    if (this.isFollowed) await this.client.workflow.getHandle(followChainWorkflowId(this.fixture.chain.name)).terminate();
    this.isFollowed = false;
    try {
      await this.checkAtEnd();
    } finally {
      await this.fixture.close();
    }
  }
}

/** The same on an EVM chain, with an account that has 1 ETH and 5 USDC. */
export class ServedWorkflows extends ServedChain<FollowFixture> {
  constructor(checkAtEnd?: () => Promise<void>, temporalOptions?: TemporalOptions) {
    super(() => createFundedFixture(), checkAtEnd, temporalOptions);
  }

  override submit(changes: RequestChanges = {}): Promise<string> {
    return super.submit({ tokenSymbol: 'USDC', amount: '5', toAddress: this.fixture.bob.address, ...changes });
  }

  /** The same, and signals at each call: what a block holds is not replaced, however slow the machine is, and ends what is parked. */
  override ends(txId: string, as: string): Promise<void> {
    return until(`${txId} is ${as}`, async () => {
      await this.fixture.mine();
      await this.fixture.follow({ signalTransfer: observationSignaller(this.client) });
      return (await this.status(txId)) === as;
    });
  }
}

/** An account that has 1 ETH and 5 USDC. `stuckAfterMs`: longer than a slow machine takes from a broadcast to the next block. */
export async function createFundedFixture(stuckAfterMs = 2_000, changes: Partial<ChainDefinition> = {}): Promise<FollowFixture> {
  const fixture = await createFollowFixture({ stuckAfterMs, ...changes });
  await fixture.send(fixture.alice, ether);
  await fixture.mint(fixture.alice, 5_000_000n);
  await fixture.mine(4);
  await fixture.follow();
  return fixture;
}

const authoriserOf = ({ ledger }: ChainFixture): AuthoriserActivities => ({
  beginSigning: (input) => ledger.beginSigning(input),
  recordNodeRefusals: (input) => ledger.recordNodeRefusals(input),
  orderKeyGeneration: (input) => ledger.orderKeyGeneration(input),
  orderKeyBinding: (input) => ledger.orderKeyBinding(input),
  orderPooledKey: (input) => ledger.orderPooledKey(input),
  offerPooledKey: (input) => ledger.offerPooledKey(input),
  takePooledKey: (input) => ledger.takePooledKey(input),
  orderAccountKey: (input) => ledger.orderAccountKey(input),
  orderAccountKeyBinding: (input) => ledger.orderAccountKeyBinding(input),
  orderBlacklistPage: (input) => ledger.orderBlacklistPage(input),
});

/** As after the five minutes for which bytes are sent again that nobody can say of whether they will be taken. */
export const whenLate = (result: BroadcastResult): BroadcastResult =>
  result.outcome === 'waiting' && result.passing === 'unknown'
    ? { outcome: 'rejected', reason: result.reason, isUnknown: true }
    : result;

export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
    if (await holds()) return;
  }
  throw new Error(`not reached: ${what}`);
}

/** The ledger agrees with the chain, nothing is locked, and the ledger verifies. */
export async function booksAgree(fixture: FollowFixture): Promise<void> {
  const { abi } = (await contractArtifacts()).TestUSDC;
  const address = fixture.chain.tokens.find(({ symbol }) => symbol === 'USDC')?.contract as Hex;
  const holder = fixture.alice.address as Hex;
  const [ETH, USDC] = await Promise.all([
    fixture.anvil.client.getBalance({ address: holder }),
    fixture.anvil.client.readContract({ address, abi, functionName: 'balanceOf', args: [holder] }),
  ]);
  expect(await fixture.balance(fixture.alice, 'ETH')).toEqual({ available: ETH, locked: 0n });
  expect(await fixture.balance(fixture.alice, 'USDC')).toEqual({ available: USDC, locked: 0n });
  expect(await verifyLedger(fixture.database.manager)).toEqual([]);
}
