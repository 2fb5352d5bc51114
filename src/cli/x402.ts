import type { Command } from 'commander';
import { getFamily } from '../chains/families';
import { loadRegistry } from '../chains/registry';
import { readConfig } from '../platform/config';
import { hasReason } from './confirmation';
import { ClientOperations } from './client-operations';
import { printRow } from './output';
import type { Run } from './run';
import type { Session } from './session';
import { type X402PolicyChange, X402PolicyOperations } from './x402-policy-operations';

/** x402 */
export function addX402Commands(program: Command, run: Run): void {
  hasReason(program.command('x402').description('x402 payments').command('policy <client> <chain>'))
    .description('show or set what the house pays for a client (by id or name) on a chain, in display units of its native coin')
    .option('--settle <rule>', 'allow or refuse: the client may have payments settled')
    .option('--gas-per-day <amount>', 'highest fees of its settlements in 24 hours, or unlimited')
    .option('--sponsor-permit <rule>', 'allow or refuse: settlements may use a permit that the payer has signed')
    .option('--sponsor-approval <rule>', 'allow or refuse: payers may be sent coins for an approval')
    .option('--top-up-per-day <amount>', 'most coins sent to payers in 24 hours')
    .option('--wallet-factories <addresses>', "contracts that may create payers' wallets, separated by commas, or none")
    .option('--failures-per-payer <count>', 'failed payments of one payer in an hour, then no more of it are taken; or unlimited')
    .action(run(policy));
}

async function policy({ database, json }: Session, reference: string, chain: string, options: X402PolicyChange): Promise<void> {
  const { clientId } = await new ClientOperations(database).findClient(reference);
  const { GATEWAY_ENV, CHAINS } = readConfig(['GATEWAY_ENV', 'CHAINS']);
  const policies = new X402PolicyOperations(database, loadRegistry(GATEWAY_ENV, CHAINS.split(',')), getFamily);
  const { settle, gasPerDay, sponsorPermit, sponsorApproval, topUpPerDay, walletFactories, failuresPerPayer } = options;
  const changes = [settle, gasPerDay, sponsorPermit, sponsorApproval, topUpPerDay, walletFactories, failuresPerPayer];
  const isChange = changes.some((value) => value !== undefined);
  const shown = await (isChange ? policies.set(clientId, chain, options) : policies.show(clientId, chain));
  printRow(
    {
      client_id: clientId,
      chain,
      settle: shown.settle,
      gas_per_day: shown.gasPerDay,
      sponsor_permit: shown.sponsorPermit,
      sponsor_approval: shown.sponsorApproval,
      top_up_per_day: shown.topUpPerDay,
      wallet_factories: shown.walletFactories,
      failures_per_payer: shown.failuresPerPayer,
    },
    json,
  );
}
