import type { Client } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import { transferWorkflowId, workflowTypes } from '../messages/workflow-ids';
import { isUuid } from '../platform/ids';
import { isRunMissing } from '../platform/temporal';
import { auditedBefore } from './audited-operation';
import { withReason } from './confirmation';
import { CommandFailed } from './session';

/** temporal.api.workflow.v1.VersioningOverride.PinnedOverrideBehavior */
const behaviorPinned = 1;
/** Of every change, in the history of the run. */
const identity = 'gateway-cli';
/** Of one command; it is repeated for more. */
const maxRuns = 5_000;

export interface PinRequest {
  build: string;
  /** Ids of transactions or of workflows; `all`: every open run whose last step was on the build. */
  runs: readonly string[] | 'all';
  /** Why, for the audit log. */
  reason: string | undefined;
}

export interface ChangedRuns {
  /** Ids of workflows. */
  runs: string[];
  /**
   * Those that were not pinned, since they are about to take a step on another build: Temporal 1.29.1 sends them there whatever they are pinned to,
   * until that build has taken the step, or until the build of their last step is current again.
   */
  moved: string[];
  /** False when there are more than one command changes, or some are left since it was ended by `failure`. */
  isComplete: boolean;
  /** What has ended the command before it was through; null: nothing. */
  failure: Error | null;
}

/** What Temporal says of an open run. */
interface Inspected {
  /** By an operator; null: it is not. */
  pinnedTo: string | null;
  /** The build on which it is about to take a step; empty: workers without a version. null: that of its last step. */
  movingTo: string | null;
}

/** What is changed, and which runs `all` are. */
interface Change {
  condition: string;
  action: 'workflow.pinned' | 'workflow.unpinned';
  /** null: none. */
  pinnedTo: string | null;
}

/**
 * Open runs that an operator keeps on one build of the worker, whichever is current: those with a step that the build does not know to which
 * the work goes back. Temporal keeps it with the run (its versioning override), and hands it on when the run continues as a new one.
 */
export class PinnedRuns {
  constructor(
    private readonly database: DataSource,
    private readonly temporal: Client,
    private readonly deploymentName: string,
  ) {}

  /**
   * The runs go on on this build alone. Followers are not among `all`: they never end, and have no step that only one build knows. A named run
   * that is not open is a CommandFailed in `failure`.
   */
  pin(request: PinRequest): Promise<ChangedRuns> {
    const condition = `TemporalWorkflowVersioningBehavior = 'AutoUpgrade' and WorkflowType != '${workflowTypes.followChain}'`;
    return this.change(request, { condition, action: 'workflow.pinned', pinnedTo: request.build });
  }

  /**
   * Takes it back: the runs go on on the build that is current, but those of workflows that are pinned by themselves. A named run that is not
   * open, or is not pinned to this build, is a CommandFailed in `failure`.
   */
  unpin(request: PinRequest): Promise<ChangedRuns> {
    const condition = `TemporalWorkflowVersioningBehavior = 'Pinned'`;
    return this.change(request, { condition, action: 'workflow.unpinned', pinnedTo: null });
  }

  private async change({ build, runs, reason }: PinRequest, { condition, action, pinnedTo }: Change): Promise<ChangedRuns> {
    const found = runs === 'all' ? await this.find(build, condition) : runs.map(toWorkflowId);
    const changed: string[] = [];
    const moved: string[] = [];
    for (const id of found.slice(0, maxRuns)) {
      const event = {
        action,
        clientId: null,
        subject: { type: 'workflow', id },
        detail: { build, ...withReason(reason) },
      } as const;
      try {
        const run = await this.inspect(id);
        if (pinnedTo === null && run.pinnedTo !== build) throw new CommandFailed(`the run ${id} is not pinned to build ${build}`);
        if (pinnedTo !== null && run.movingTo !== null && run.movingTo !== pinnedTo) {
          moved.push(id);
          continue;
        }
        await auditedBefore(this.database, event, () => this.override(id, pinnedTo));
        changed.push(id);
      } catch (error) {
        // one that has ended since it was found, or that only its workflow pins, needs nothing
        if (error instanceof CommandFailed && runs === 'all') continue;
        // what was changed before is told all the same
        return { runs: changed, moved, isComplete: false, failure: error instanceof Error ? error : new Error(String(error)) };
      }
    }
    return { runs: changed, moved, isComplete: found.length <= maxRuns, failure: null };
  }

  private async find(build: string, condition: string): Promise<string[]> {
    const onBuild = `TemporalWorkerDeploymentVersion = '${this.deploymentName}:${build}'`;
    const ids: string[] = [];
    for await (const { workflowId } of this.temporal.workflow.list({
      query: `ExecutionStatus = 'Running' and ${onBuild} and ${condition}`,
    })) {
      ids.push(workflowId);
      if (ids.length > maxRuns) break;
    }
    return ids;
  }

  /** @throws CommandFailed when it is not open. */
  private async inspect(workflowId: string): Promise<Inspected> {
    const { workflowService } = this.temporal.connection;
    const request = { namespace: this.temporal.options.namespace, execution: { workflowId } };
    const { workflowExecutionInfo: info } = await ofOpenRun(workflowId, () => workflowService.describeWorkflowExecution(request));
    if (info?.closeTime) throw notOpen(workflowId);
    const { versioningOverride, versionTransition } = info?.versioningInfo ?? {};
    return {
      pinnedTo: versioningOverride?.pinned?.version?.buildId ?? null,
      movingTo: versionTransition ? (versionTransition.deploymentVersion?.buildId ?? '') : null,
    };
  }

  /** @throws CommandFailed when it is not open. */
  private async override(workflowId: string, pinnedTo: string | null): Promise<void> {
    const { temporal, deploymentName } = this;
    const pinned = { behavior: behaviorPinned, version: { deploymentName, buildId: pinnedTo } };
    const request = {
      namespace: temporal.options.namespace,
      workflowExecution: { workflowId },
      workflowExecutionOptions: { versioningOverride: pinnedTo === null ? null : { pinned } },
      updateMask: { paths: ['versioning_override'] },
      identity,
    };
    await ofOpenRun(workflowId, () => temporal.connection.workflowService.updateWorkflowExecutionOptions(request));
  }
}

const notOpen = (workflowId: string): CommandFailed => new CommandFailed(`there is no open run ${workflowId}`);

async function ofOpenRun<T>(workflowId: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw isRunMissing(error) ? notOpen(workflowId) : error;
  }
}

const toWorkflowId = (run: string): string => (isUuid(run) ? transferWorkflowId(run) : run);
