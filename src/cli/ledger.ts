import type { Command } from 'commander';
import { verifyLedger } from '../ledger/verify';
import { print, printRows } from './output';
import type { Run } from './run';
import { CommandFailed, type Session } from './session';

/** ledger */
export function addLedgerCommands(program: Command, run: Run): void {
  program
    .command('ledger')
    .description('the double-entry ledger')
    .command('verify')
    .description('check that the ledger balances; exit code 1 if it does not')
    .action(run(verify));
}

async function verify({ database, json }: Session): Promise<void> {
  const differences = await verifyLedger(database.manager);
  if (differences.length === 0) return json ? printRows([], true) : print('the ledger balances');
  printRows(
    differences.map(({ check, subject, expected, actual }) => ({ check, subject, expected, actual })),
    json,
  );
  throw new CommandFailed(differences.length === 1 ? '1 difference' : `${differences.length} differences`);
}
