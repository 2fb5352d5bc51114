import type { Command } from 'commander';
import { beginConsolidation, type Consolidation, findOutputAccount, planConsolidation } from '../consolidations/begin';
import { getFamily } from '../chains/families';
import { loadRegistry } from '../chains/registry';
import { listOutputs } from '../chains/small-outputs';
import { readConfig } from '../platform/config';
import { formatAmount } from '../platform/money';
import { readPositiveAmount } from './amounts';
import { cannotBeUndone, confirm, type Confirmation, hasDryRun, type Tried } from './confirmation';
import { currentOperator } from './operator';
import { integer, toLimit } from './options';
import { printRow, printRows } from './output';
import type { Run } from './run';
import type { Session } from './session';

interface ConsolidateOptions extends Confirmation, Tried {
  below: string;
  maxInputs: number;
  maxFee?: string;
}

const mostInputs = 64;

function toDependencies({ database }: Session) {
  const { GATEWAY_ENV, CHAINS } = readConfig(['GATEWAY_ENV', 'CHAINS']);
  return { database, registry: loadRegistry(GATEWAY_ENV, CHAINS.split(',')), getFamily };
}

async function list(session: Session, accountId: string, { limit }: { limit: number }): Promise<void> {
  const { manager } = session.database;
  const { chain, owner } = await findOutputAccount(manager, toDependencies(session), accountId);
  const outputs = await listOutputs(manager, owner, limit);
  printRows(
    outputs.map(({ resource, amount, block, spendableFrom, heldBy }) => ({
      output: resource,
      amount: formatAmount(amount, chain.native.decimals),
      symbol: chain.native.symbol,
      block,
      spendable_from: spendableFrom,
      held_by: heldBy,
    })),
    session.json,
  );
}

async function consolidate(session: Session, accountId: string, options: ConsolidateOptions): Promise<void> {
  const deps = toDependencies(session);
  const { chain } = await findOutputAccount(session.database.manager, deps, accountId);
  const request = {
    accountId,
    maxInputs: options.maxInputs,
    ...(options.reason !== undefined && { statedReason: options.reason }),
    below: readPositiveAmount('--below', options.below, chain.native),
    maxFee: options.maxFee === undefined ? null : readPositiveAmount('--max-fee', options.maxFee, chain.native),
  };
  if (!options.dryRun) await confirm(`join outputs of account ${accountId} for a network fee`, options);
  const result = options.dryRun
    ? await planConsolidation(deps, request)
    : await beginConsolidation(deps, request, currentOperator());
  printRow(toRow(result), session.json);
}

const toRow = ({ txId, chain: { native }, inputs, amount, fee, feeLocked }: Consolidation) => ({
  tx_id: txId,
  inputs,
  amount: formatAmount(amount, native.decimals),
  fee_now: formatAmount(fee, native.decimals),
  max_fee: formatAmount(feeLocked, native.decimals),
  symbol: native.symbol,
});

/** utxo */
export function addOutputCommands(program: Command, run: Run): void {
  const outputs = program.command('utxo').description('outputs of accounts, on chains whose balances consist of them');
  outputs
    .command('list <account-id>')
    .description('list the outputs that the chain has not spent, the smallest first')
    .option('--limit <number>', 'maximum number of outputs', toLimit, 100)
    .action(run(list));
  hasDryRun(cannotBeUndone(outputs.command('consolidate <account-id>')), 'what would be joined now')
    .description('join small outputs of an account to one, which pays the network fee: worth it while fees are low')
    .requiredOption('--below <amount>', 'only outputs of less than this, in display units')
    .option('--max-inputs <number>', 'maximum number of outputs', integer(2, mostInputs), mostInputs)
    .option('--max-fee <amount>', 'highest network fee, in display units; by default that of a transfer with as many inputs')
    .action(run(consolidate));
}
