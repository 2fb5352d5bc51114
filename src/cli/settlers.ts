import type { Command } from 'commander';
import { accountKeyGenerationOn } from '../accounts/key-generation';
import { OwnAddresses } from '../accounts/own-addresses';
import { OwnKeys } from '../accounts/own-keys';
import { enabledChain } from '../accounts/service';
import { getFamily } from '../chains/families';
import { type ChainRegistry, loadRegistry } from '../chains/registry';
import { readNodeKeys } from '../mpc/identity';
import { readConfig } from '../platform/config';
import { createLogger } from '../platform/logging';
import { formatAmount } from '../platform/money';
import type { AddressedSettler } from '../settlers/addresses';
import { reportSettlers, type SettlerReport } from '../settlers/report';
import { AttestedKeys } from '../wallets/attested-keys';
import { printRow, printRows } from './output';
import { cannotBeUndone, confirm, type Confirmation, hasDryRun, hasReason, type Reasoned, type Tried } from './confirmation';
import type { Run } from './run';
import type { Session } from './session';
import { SettlerOperations } from './settler-operations';
import { checkWithdrawal, withdrawFromSettler } from './settler-withdrawals';

/** Generating a key takes seconds; more when the nodes have others to generate. */
const keyWaitMs = 60_000;

const settlerRow = ({ settler: { settlerId, chain, status, isPrimary, createdAt }, address }: AddressedSettler) => ({
  settler_id: settlerId,
  chain,
  address: address ?? 'not attested by the signing nodes',
  status,
  is_primary: isPrimary,
  created_at: createdAt,
});

/** With the certificates of the nodes: an address that they do not attest is not shown to anybody who may send coins to it. */
function operations({ database, temporal }: Session): SettlerOperations {
  const config = readConfig(['GATEWAY_ENV', 'CHAINS', 'MPC_NODE_PEER_CERTS', 'MPC_NODE_FORMER_CERTS']);
  const log = createLogger('gateway', 'error', process.stderr);
  const keys = new AttestedKeys(readNodeKeys(config.MPC_NODE_PEER_CERTS, config.MPC_NODE_FORMER_CERTS), log);
  const registry = loadRegistry(config.GATEWAY_ENV, config.CHAINS.split(','));
  const addresses = new OwnAddresses(keys, getFamily, log);
  const ownKeys = new OwnKeys(database, accountKeyGenerationOn(temporal), addresses.accountKeys);
  return new SettlerOperations({ database, registry, getFamily, keyWaitMs, addresses, ownKeys });
}

async function status({ database, json }: Session, chain?: string): Promise<void> {
  const { GATEWAY_ENV, CHAINS } = readConfig(['GATEWAY_ENV', 'CHAINS']);
  const registry = loadRegistry(GATEWAY_ENV, CHAINS.split(','));
  const reports = await reportSettlers(
    database.manager,
    getFamily,
    chain === undefined ? undefined : enabledChain(registry, chain).name,
  );
  printRows(
    reports.map((report) => toStatusRow(report, registry)),
    json,
  );
}

function toStatusRow(
  { settlerId, chain, status, balance, open, refusedClients, oldestAt, runway }: SettlerReport,
  registry: ChainRegistry,
) {
  const native = registry.find(chain)?.native;
  return {
    settler_id: settlerId,
    chain,
    status,
    // a chain that is not enabled any more has no symbol here
    balance: native ? `${formatAmount(balance, native.decimals)} ${native.symbol}` : balance.toString(),
    open,
    oldest_at: oldestAt,
    runway: runway?.toString() ?? null,
    refused_clients: refusedClients,
  };
}

/** The worker makes it within seconds. */
const withdrawalWaitMs = 10_000;

interface WithdrawOptions extends Confirmation, Tried {
  to: string;
  amount?: string;
}

async function withdraw({ database, json }: Session, id: string, options: WithdrawOptions): Promise<void> {
  const { GATEWAY_ENV, CHAINS } = readConfig(['GATEWAY_ENV', 'CHAINS']);
  const registry = loadRegistry(GATEWAY_ENV, CHAINS.split(','));
  const operation = { database, registry, getFamily, waitMs: withdrawalWaitMs };
  if (options.dryRun) return printRow(await checkWithdrawal(operation, id, options), json);
  await confirm(`send ${options.amount ?? 'all coins'} of settler ${id} to ${options.to}`, options);
  printRow({ ...(await withdrawFromSettler(operation, id, options)) }, json);
}

/** settlers */
export function addSettlerCommands(program: Command, run: Run): void {
  const settlers = program
    .command('settlers')
    .description("the house's accounts that settle payments which others have signed (with MPC_NODE_PEER_CERTS)");
  settlers
    .command('create <chain>')
    .description('create a settler; send coins of the chain to its address before it is used')
    .option('--primary', 'make it the primary settler of its chain')
    .action(
      run(async (session, chain: string, { primary = false }: { primary?: boolean }) =>
        printRow(settlerRow(await operations(session).create(chain, { isPrimary: primary })), session.json),
      ),
    );
  settlers
    .command('list [chain]')
    .description('list settlers, of one chain or of all')
    .action(
      run(async (session, chain?: string) => printRows((await operations(session).list(chain)).map(settlerRow), session.json)),
    );
  settlers
    .command('status [chain]')
    .description('show what settlers have and have to do, on one chain or on all; runway: settlements that the balance pays for')
    .action(run(status));
  hasReason(settlers.command('drain <settler-id>'))
    .description('take a settler out of use: it finishes what it has, and is no primary settler any more; its coins stay with it')
    .action(
      run(async (session, id: string, { reason }: Reasoned) =>
        printRow(settlerRow(await operations(session).drain(id, reason)), session.json),
      ),
    );
  hasReason(settlers.command('resume <settler-id>'))
    .description('take a drained settler into use again')
    .action(
      run(async (session, id: string, { reason }: Reasoned) =>
        printRow(settlerRow(await operations(session).resume(id, reason)), session.json),
      ),
    );
  hasDryRun(
    cannotBeUndone(settlers.command('withdraw <settler-id>')),
    'whether the gateway would take the request now (the signing nodes are not asked)',
  )
    .description(
      'send coins of a drained settler, of which nothing is open, to a destination that the signing nodes name themselves',
    )
    .requiredOption('--to <address>', 'where to')
    .option('--amount <amount>', 'in coins; all but what the fee may cost and what the chain has it keep unless it is given')
    .action(run(withdraw));
  hasReason(settlers.command('primary <settler-id>'))
    .description('make a settler the primary one of its chain')
    .action(
      run(async (session, id: string, { reason }: Reasoned) =>
        printRow(settlerRow(await operations(session).makePrimary(id, reason)), session.json),
      ),
    );
}
