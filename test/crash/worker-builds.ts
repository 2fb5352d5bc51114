import { cpSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { projectRoot } from '../../dev/paths';
import { transferWorkflowId } from '../../src/messages/workflow-ids';
import { environmentOf } from '../adversary/processes';
import { gateway } from '../e2e/gateway';
import { dataFolder, stack } from '../stack/client';
import { pids } from '../stack/pause';

/** Two releases of the worker beside each other, and what an operator does with them (docs/upgrades.md). */

export const deploymentName = 'gateway';

const newFolder = () => path.join(dataFolder(), 'new-release');

/** The programs of a later release: a transfer has a step more there, behind a patch. Returns its folder `dist`. */
export async function makeNewRelease(): Promise<string> {
  const dist = path.join(newFolder(), 'dist');
  cpSync(path.join(projectRoot, 'dist'), dist, { recursive: true });
  const { code } = await bundleWorkflowCode({
    workflowsPath: path.join(projectRoot, 'test', 'integration', 'transfers', 'second-build.ts'),
    workflowInterceptorModules: [path.join(projectRoot, 'workflows', 'tracing.ts')],
    logger: new DefaultLogger('ERROR'),
  });
  writeFileSync(path.join(dist, 'workflow-bundle.js'), code);
  return dist;
}

export const removeNewRelease = (): void => rmSync(newFolder(), { recursive: true, force: true });

/** A command of `gateway temporal`, with the chains of the workers. */
export function temporalCommand(...args: string[]) {
  const [worker = 0] = pids('worker');
  const { CHAINS = '' } = environmentOf(worker);
  return gateway(['temporal', ...args, '--json'], { CHAINS, TEMPORAL_DEPLOYMENT_NAME: deploymentName });
}

/** What it prints. @throws Error when it failed. */
export async function temporalOutput<T>(...args: string[]): Promise<T> {
  const { code, out, err } = await temporalCommand(...args);
  if (code !== 0) throw new Error(`gateway temporal ${args.join(' ')} ended with ${code}: ${err}`);
  return JSON.parse(out) as T;
}

export interface Version {
  build: string;
  state: string;
  percent: number;
  open: number;
  pinned: number;
}

export const versionOf = async (build: string): Promise<Version | undefined> =>
  (await temporalOutput<Version[]>('versions')).find((version) => version.build === build);

export interface Steps {
  /** Of its steps, in the order of the first one on each; null: without a version. */
  builds: (string | null)[];
  /** It has taken the step of the new release. */
  isPatched: boolean;
  /** Steps that a build could not take, such as those behind one that it does not know. */
  failed: number;
}

/** Reads the histories of transfers. */
export class Histories {
  private constructor(
    private readonly connection: Connection,
    private readonly client: Client,
  ) {}

  static async connect(): Promise<Histories> {
    const { address, namespace } = stack().temporal;
    const connection = await Connection.connect({ address });
    return new Histories(connection, new Client({ connection, namespace }));
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  async hasEnded(txId: string): Promise<boolean> {
    const { status } = await this.client.workflow.getHandle(transferWorkflowId(txId)).describe();
    return status.name !== 'RUNNING';
  }

  async stepsOf(txId: string): Promise<Steps> {
    const { events } = await this.client.workflow.getHandle(transferWorkflowId(txId)).fetchHistory();
    const found = events ?? [];
    const builds = found.flatMap(({ workflowTaskCompletedEventAttributes: completed }) =>
      completed ? [completed.deploymentVersion?.buildId ?? null] : [],
    );
    return {
      builds: [...new Set(builds)],
      isPatched: found.some(({ markerRecordedEventAttributes: marker }) => marker?.markerName === 'core_patch'),
      failed: found.filter(({ workflowTaskFailedEventAttributes: failed }) => failed).length,
    };
  }
}
