import { sleep } from '@temporalio/workflow';
import { transfer as unchanged } from '../../workflows/transfer';

/** The transfer workflow with an additional step: a replay of the committed histories must fail. */
export async function transfer(...[input]: Parameters<typeof unchanged>): ReturnType<typeof unchanged> {
  await sleep(1000);
  return unchanged(input);
}
