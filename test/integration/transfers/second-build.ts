import { patched, sleep } from '@temporalio/workflow';
import { transfer as ofFirstBuild } from '../../../workflows/transfer';

export * from '../../../workflows';

/** The workflows of a later build: a transfer has one more step, behind a patch, as CONTRIBUTING.md says. */
export async function transfer(...input: Parameters<typeof ofFirstBuild>): ReturnType<typeof ofFirstBuild> {
  if (patched('second-build')) await sleep(1);
  return ofFirstBuild(...input);
}
