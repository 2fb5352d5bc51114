import { nodeIndexes } from '../../src/messages/nodes';
import type { Containers } from './containers';

/** Runs commands that change nothing, where all is well, in each service for operators, while everything runs. */
export async function runOperatorCommands(
  containers: Containers,
  { txId, walletId }: { txId: string; walletId: string },
): Promise<void> {
  const run = async (service: string, command: string, expected: string | RegExp): Promise<void> => {
    const output = await containers.runToEnd(service, command.split(' '));
    const isExpected = typeof expected === 'string' ? output.includes(expected) : expected.test(output);
    if (!isExpected) throw new Error(`${service} ${command} has not printed ${String(expected)}:\n${output.slice(0, 1_000)}`);
  };
  await run('gateway', 'transfers list', txId);
  await run('gateway', 'wallet list', walletId);
  await run('gateway', `wallet bind ${walletId}`, /^1 +bound[^]*^2 +bound[^]*^3 +bound/m);
  // with what all three nodes show
  await run('owner', 'reconcile', 'books, journals and chains are equal');
  for (const node of nodeIndexes) {
    await run(`mpc-${node}`, 'mpc status', new RegExp(`^node +${node}$`, 'm'));
    await run(`mpc-${node}`, 'mpc limits', 'ethereum');
    await run(`mpc-${node}`, 'mpc journal verify --peers', 'the journal is what this node has signed');
    await run(`mpc-${node}`, 'keys rotate kek', /^resealed +0$/m);
  }
}
