import { sleep } from '@temporalio/workflow';
import { transfer as unchanged } from '../../workflows/transfer';

/** The transfer workflow with one step more than the committed histories have: what a replay must notice. */
export async function transfer(...[input]: Parameters<typeof unchanged>): ReturnType<typeof unchanged> {
  await sleep(1000);
  return unchanged(input);
}
