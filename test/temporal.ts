import path from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { projectRoot } from '../dev/paths';
import { freePort } from '../dev/ports';
import { findTemporalCli } from '../dev/temporal-cli';
import { searchAttributes } from '../src/messages/progress';

/** The workflows as the worker loads them; the set-up of the integration tests builds them (test/stack/parts-setup.ts). */
export const workflowBundle = { codePath: path.join(projectRoot, 'dist', 'workflow-bundle.js') };

export interface TemporalOptions {
  /** Events of a history from which on the server suggests that the run continues as new; the server's default is some thousands. */
  suggestContinueAfter?: number;
  /** With its user interface. */
  hasUi?: true;
}

export type ServedTemporal = TestWorkflowEnvironment & {
  /** Address of the user interface, where there is one. */
  uiUrl?: string;
};

/** A Temporal server of its own for a test file, which ends it by `teardown`. */
export async function startTemporal({ suggestContinueAfter, hasUi }: TemporalOptions = {}): Promise<ServedTemporal> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const executable = { type: 'existing-path', path: await findTemporalCli(() => undefined) } as const;
  const limit = `limit.historyCount.suggestContinueAsNew=${suggestContinueAfter}`;
  const extraArgs = suggestContinueAfter === undefined ? [] : ['--dynamic-config-value', limit];
  const uiPort = hasUi && (await freePort());
  const server = { executable, extraArgs, searchAttributes: Object.values(searchAttributes), ...(uiPort && { uiPort }) };
  const environment = await TestWorkflowEnvironment.createLocal({ server });
  return uiPort ? Object.assign(environment, { uiUrl: `http://127.0.0.1:${uiPort}` }) : environment;
}
