import type { WorkerOptions } from '@temporalio/worker';
import { type Config, ConfigError } from '../platform/config';

export const workerVersionVariables = ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID'] as const;

/**
 * The version of every Temporal worker of this process: those of the queues without workflows have it too, so that an activity and the
 * workflow that calls it are of one build (docs/upgrades.md). Nothing when both variables are missing.
 *
 * Runs move to the build that is current (AUTO_UPGRADE) unless their workflow says otherwise. They may: their state is in Postgres, changes of
 * their commands are behind `patched()`, and test/replay replays the old histories on each new build. They have to: a transfer or a webhook
 * may take days and a follower does not end, so that workers of old builds could never be stopped.
 *
 * @throws ConfigError when only one of the two is set.
 */
export function workerVersion(
  config: Config<(typeof workerVersionVariables)[number]>,
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = config;
  if (!deploymentName && !buildId) return {};
  if (!deploymentName) throw new ConfigError('TEMPORAL_DEPLOYMENT_NAME is required with TEMPORAL_WORKER_BUILD_ID');
  if (!buildId) throw new ConfigError('TEMPORAL_WORKER_BUILD_ID is required with TEMPORAL_DEPLOYMENT_NAME');
  const version = { deploymentName, buildId };
  return { workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' } };
}
