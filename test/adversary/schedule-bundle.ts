import { existsSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { dataFolder } from '../stack/client';

/** The workflow of schedule.ts, bundled once for all test files of a run. */
export async function scheduleBundle(): Promise<{ codePath: string }> {
  const codePath = path.join(dataFolder(), 'adversary-schedule.js');
  if (!existsSync(codePath)) {
    const { code } = await bundleWorkflowCode({
      workflowsPath: require.resolve('./schedule'),
      logger: new DefaultLogger('ERROR'),
    });
    writeFileSync(`${codePath}.part`, code);
    renameSync(`${codePath}.part`, codePath);
  }
  return { codePath };
}
