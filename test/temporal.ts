import path from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { projectRoot } from '../dev/paths';
import { findTemporalCli } from '../dev/temporal-cli';
import { searchAttributes } from '../src/messages/progress';

/** The workflows as the worker loads them; the set-up of the integration tests builds them (test/stack/parts-setup.ts). */
export const workflowBundle = { codePath: path.join(projectRoot, 'dist', 'workflow-bundle.js') };

/** A Temporal server of its own for a test file, which ends it by `teardown`. */
export async function startTemporal(): Promise<TestWorkflowEnvironment> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const executable = { type: 'existing-path', path: await findTemporalCli(() => undefined) } as const;
  return TestWorkflowEnvironment.createLocal({ server: { executable, searchAttributes: Object.values(searchAttributes) } });
}
