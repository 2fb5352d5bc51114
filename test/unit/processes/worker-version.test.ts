import { readConfig } from '../../../src/platform/config';
import { workerVersion, workerVersionVariables } from '../../../src/processes/worker-version';

const versionOf = (env: NodeJS.ProcessEnv) => workerVersion(readConfig(workerVersionVariables, env));
const [name, build] = [{ TEMPORAL_DEPLOYMENT_NAME: 'gateway' }, { TEMPORAL_WORKER_BUILD_ID: '1.4.0' }];

test('a worker has no version unless one is configured; an empty variable is none', () => {
  expect(versionOf({})).toEqual({});
  expect(versionOf({ TEMPORAL_DEPLOYMENT_NAME: '', TEMPORAL_WORKER_BUILD_ID: '' })).toEqual({});
});

test('runs move to the current build unless their workflow says otherwise', () => {
  expect(versionOf({ ...name, ...build })).toEqual({
    workerDeploymentOptions: {
      version: { deploymentName: 'gateway', buildId: '1.4.0' },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  });
});

test('one without the other is refused, by its name', () => {
  expect(() => versionOf(name)).toThrow('TEMPORAL_WORKER_BUILD_ID is required with TEMPORAL_DEPLOYMENT_NAME');
  expect(() => versionOf(build)).toThrow('TEMPORAL_DEPLOYMENT_NAME is required with TEMPORAL_WORKER_BUILD_ID');
});

test.each(['a:b', 'a.b'])('%p is no name of a deployment', (deployment) => {
  expect(() => versionOf({ ...build, TEMPORAL_DEPLOYMENT_NAME: deployment })).toThrow('TEMPORAL_DEPLOYMENT_NAME');
});

test.each(['a:b', '-a', 'a b', 'a'.repeat(101)])('%p is no name of a build', (buildId) => {
  expect(() => versionOf({ ...name, TEMPORAL_WORKER_BUILD_ID: buildId })).toThrow('TEMPORAL_WORKER_BUILD_ID');
});
