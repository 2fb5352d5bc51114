import { Command } from 'commander';
import { addAuditCommands } from '../../../src/cli/audit';
import { addClientCommands } from '../../../src/cli/clients';
import { addExplainCommand } from '../../../src/cli/explain';
import { addKeyCommands } from '../../../src/cli/keys';
import { addLedgerCommands } from '../../../src/cli/ledger';
import { addMigrateCommand } from '../../../src/cli/migrate';
import { addMpcCommands } from '../../../src/cli/mpc';
import { addOrderCommands } from '../../../src/cli/orders';
import { addOutputCommands } from '../../../src/cli/outputs';
import { addReconcileCommand } from '../../../src/cli/reconcile';
import { addSettlerCommands } from '../../../src/cli/settlers';
import { addSetupCommands } from '../../../src/cli/setup';
import { addTemporalCommands } from '../../../src/cli/temporal';
import { addTotpCommands } from '../../../src/cli/totp';
import { addTransferCommands } from '../../../src/cli/transfers';
import { addWalletCommands } from '../../../src/cli/wallets';
import { addX402Commands } from '../../../src/cli/x402';

const never = () => () => Promise.reject(new Error('nothing is run here'));

/** All commands of `gateway`, none of which can be run. */
export function createProgram(): Command {
  const program = new Command('gateway');
  for (const add of [
    ...[addClientCommands, addWalletCommands, addTotpCommands, addTransferCommands, addExplainCommand, addOrderCommands],
    ...[addOutputCommands, addSettlerCommands, addX402Commands, addLedgerCommands, addTemporalCommands, addAuditCommands],
  ])
    add(program, never);
  for (const add of [addMigrateCommand, addSetupCommands, addReconcileCommand]) add(program);
  addMpcCommands(program, never);
  addKeyCommands(program, never, never);
  return program;
}
