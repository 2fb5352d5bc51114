import { setTimeout as delay } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { ServedQueue } from '../messages/task-queues';
import type { DataSource } from 'typeorm';
import { auditedBefore } from './audited-operation';
import { CommandFailed } from './session';
import { queuesWithoutWorker } from './queue-workers';

/** gRPC status codes. */
const [notFound, failedPrecondition] = [5, 9];
/** Of every change, in the deployment's record at Temporal. */
const identity = 'gateway-cli';
const pollMs = 500;

/** How an operator names workers without a version. */
export const unversioned = 'unversioned';

/** temporal.api.enums.v1.WorkerDeploymentVersionStatus, by number. */
const states = ['unknown', 'inactive', 'current', 'ramping', 'draining', 'drained', 'created'] as const;

/** One build of the worker, or the workers without a version. */
export interface WorkerVersion {
  /** null: workers without a version. */
  build: string | null;
  /** `draining`: no new runs, and pinned ones go on. `inactive`: it has never been current. */
  state: (typeof states)[number];
  /** Of new runs, and of those that change builds. */
  percent: number;
  /** Runs that are open and whose last step was on this build. */
  open: number;
  /** Those of them that can go on there alone: the workers of the build must not be stopped while there are any. */
  pinned: number;
}

/** The builds of a worker deployment, and which of them gets the work. */
export class WorkerVersions {
  constructor(
    private readonly database: DataSource,
    private readonly temporal: Client,
    private readonly deploymentName: string,
  ) {}

  /** Oldest first; workers without a version at the end. @throws CommandFailed when the deployment has never had a worker. */
  async list(): Promise<WorkerVersion[]> {
    const { workerDeploymentInfo: info } = await this.call(() =>
      this.service.describeWorkerDeployment({ namespace: this.namespace, deploymentName: this.deploymentName }),
    );
    const {
      currentDeploymentVersion: current,
      rampingDeploymentVersion: ramping,
      rampingVersionPercentage,
    } = info?.routingConfig ?? {};
    const ramp = Math.round(rampingVersionPercentage ?? 0);
    const percentOf = (build: string | null): number => {
      if (ramp > 0 && build === (ramping?.buildId ?? null)) return ramp;
      return build === (current?.buildId ?? null) ? 100 - ramp : 0;
    };
    const builds = (info?.versionSummaries ?? []).flatMap(({ deploymentVersion, status, createTime }) =>
      deploymentVersion?.buildId
        ? [
            {
              build: deploymentVersion.buildId,
              state: states[status ?? 0] ?? 'unknown',
              madeAt: Number(createTime?.seconds ?? 0),
            },
          ]
        : [],
    );
    builds.sort((a, b) => a.madeAt - b.madeAt);
    const versions = builds.map(async ({ build, state }) => ({
      ...{ build, state, percent: percentOf(build) },
      ...(await this.countRuns(build)),
    }));
    return Promise.all([...versions, this.withoutVersion(percentOf(null))]);
  }

  /**
   * New runs begin on this build, and all that are not pinned go on there. null: on workers without a version.
   *
   * Refused unless workers of the build ask for work on each of these queues, since what comes to another one would wait. Temporal 1.29.1 itself
   * refuses less: it compares the queues of two builds alone, and looks at those that have tasks, or have just got some. Audited.
   * @param waitMs how long to try again while it is refused
   * @throws CommandFailed when the build is not known then, or a queue is not served by its workers.
   */
  setCurrent(buildId: string | null, queues: readonly ServedQueue[], waitMs = 0): Promise<void> {
    return this.audited('made_current', buildId, {}, () => this.makeCurrent(buildId, queues, waitMs));
  }

  private async makeCurrent(buildId: string | null, queues: readonly ServedQueue[], waitMs: number): Promise<void> {
    const { namespace, deploymentName } = this;
    const request = { namespace, deploymentName, buildId: buildId ?? '', identity };
    for (const until = Date.now() + waitMs; ; await delay(pollMs)) {
      try {
        await this.expectServed(buildId, queues);
        await this.call(() => this.service.setWorkerDeploymentCurrentVersion(request));
        return;
      } catch (error) {
        if (!(error instanceof CommandFailed) || Date.now() >= until) throw error;
      }
    }
  }

  /**
   * This share of new runs begins on the build, and of the others that are not pinned the same share goes on there; 0 ends it. Audited.
   * @throws CommandFailed as for `setCurrent`.
   */
  async setRamp(buildId: string, percentage: number, queues: readonly ServedQueue[]): Promise<void> {
    const { namespace, deploymentName } = this;
    const version = percentage === 0 ? '' : buildId;
    await this.audited('ramped', buildId, { percent: percentage }, async () => {
      if (percentage > 0) await this.expectServed(buildId, queues);
      await this.call(() =>
        this.service.setWorkerDeploymentRampingVersion({ namespace, deploymentName, buildId: version, percentage, identity }),
      );
    });
  }

  /** @throws CommandFailed unless workers of the build (null: without a version) ask for work on each of these queues. */
  async expectServed(build: string | null, queues: readonly ServedQueue[]): Promise<void> {
    const { temporal, deploymentName } = this;
    const missing = await queuesWithoutWorker(temporal, queues, build === null ? null : { deploymentName, buildId: build });
    if (missing.length === 0) return;
    const workers = build === null ? 'workers without a version' : `workers of build ${build}`;
    throw new CommandFailed(`no ${workers} ask for work on these task queues, where work would wait: ${missing.join(', ')}`);
  }

  private audited(
    act: 'made_current' | 'ramped',
    build: string | null,
    detail: { percent?: number },
    work: () => Promise<void>,
  ): Promise<void> {
    const subject = { type: 'worker_build', id: build ?? unversioned };
    const event = { action: `worker_build.${act}`, clientId: null, subject } as const;
    return auditedBefore(this.database, { ...event, detail: { deployment: this.deploymentName, ...detail } }, work);
  }

  private get service() {
    return this.temporal.connection.workflowService;
  }

  private get namespace(): string {
    return this.temporal.options.namespace;
  }

  private async withoutVersion(percent: number): Promise<WorkerVersion> {
    const open = await this.count('TemporalWorkerDeployment is null');
    const idle = open > 0 ? 'draining' : 'drained';
    return { build: null, state: percent === 0 ? idle : percent === 100 ? 'current' : 'ramping', percent, open, pinned: 0 };
  }

  private async countRuns(build: string): Promise<{ open: number; pinned: number }> {
    const onBuild = `TemporalWorkerDeploymentVersion = '${this.deploymentName}:${build}'`;
    const [open, pinned] = await Promise.all([
      this.count(onBuild),
      this.count(`${onBuild} and TemporalWorkflowVersioningBehavior = 'Pinned'`),
    ]);
    return { open, pinned };
  }

  private async count(condition: string): Promise<number> {
    return (await this.temporal.workflow.count(`ExecutionStatus = 'Running' and ${condition}`)).count;
  }

  /** What the server refuses is the operator's to put right. */
  private async call<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const status = isGrpcServiceError(error) ? Number(error.code) : undefined;
      if (status === notFound)
        throw new CommandFailed(`no worker of deployment ${this.deploymentName} and this build has asked for work`);
      if (status === failedPrecondition) throw new CommandFailed((error as { details: string }).details);
      throw error;
    }
  }
}
