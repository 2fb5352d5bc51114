import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { isTemporalDown } from '../platform/temporal';
import { ConfigError } from '../platform/config';
import { isDatabaseDown } from '../platform/database';
import { describeError } from '../platform/error-log';
import { GatewayError } from '../platform/errors';
import { addAuditCommands } from './audit';
import { addClientCommands } from './clients';
import { addExplainCommand } from './explain';
import { addKeyCommands } from './keys';
import { addLedgerCommands } from './ledger';
import { addMigrateCommand } from './migrate';
import { addMpcCommands } from './mpc';
import { type NodeRun, type NodeSession, withNodeSession } from './node-session';
import { addOrderCommands } from './orders';
import { addOutputCommands } from './outputs';
import { addReconcileCommand } from './reconcile';
import { addTemporalCommands } from './temporal';
import { addTransferCommands } from './transfers';
import type { Run } from './run';
import { CommandFailed, type Session, withSession } from './session';
import { addSettlerCommands } from './settlers';
import { addSetupCommands } from './setup';
import { addTotpCommands } from './totp';
import { addWalletCommands } from './wallets';
import { addX402Commands } from './x402';

/** 1: refused, not found, or differences found; 2: wrong usage; 69: a service is down; 78: wrong environment (sysexits.h). */
const exitCodes = { failed: 1, usage: 2, unavailable: 69, config: 78 } as const;

function createProgram(): Command {
  const program = new Command('gateway')
    .description('Operates the custodial wallet gateway')
    .version(readVersion(), '--version', 'print the version of the gateway')
    .option('--json', 'print JSON')
    .exitOverride();
  // commander passes the arguments, then the options and the command; each command uses the parameters it declares
  const run: Run =
    <A extends unknown[]>(work: (session: Session, ...args: A) => Promise<void>) =>
    (...args: [...A, ...unknown[]]) =>
      withSession(program.opts<{ json?: boolean }>().json ?? false, (session) => work(session, ...(args as unknown as A)));
  const runOnNode: NodeRun =
    <A extends unknown[]>(work: (session: NodeSession, ...args: A) => Promise<void>) =>
    (...args: [...A, ...unknown[]]) =>
      withNodeSession(program.opts<{ json?: boolean }>().json ?? false, (session) => work(session, ...(args as unknown as A)));
  addClientCommands(program, run);
  addWalletCommands(program, run);
  addTotpCommands(program, run);
  addTransferCommands(program, run);
  addExplainCommand(program, run);
  addOrderCommands(program, run);
  addOutputCommands(program, run);
  addSettlerCommands(program, run);
  addX402Commands(program, run);
  addLedgerCommands(program, run);
  addMigrateCommand(program);
  addSetupCommands(program);
  addReconcileCommand(program);
  addTemporalCommands(program, run);
  addAuditCommands(program, run);
  addMpcCommands(program, runOnNode);
  addKeyCommands(program, run, runOnNode);
  for (const command of everyCommand(program))
    command.option('--json', 'print JSON').on('option:json', () => program.setOptionValue('json', true));
  return program;
}

/** Of package.json, which the image has too. */
function readVersion(): string {
  const file = path.join(__dirname, '..', '..', '..', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** All subcommands, so that --json is accepted at any position. */
function everyCommand(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...everyCommand(child)]);
}

function toExitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  if (error instanceof ConfigError) return exitCodes.config;
  if (isDatabaseDown(error) || isTemporalDown(error) || (error as { code?: string }).code === 'unavailable')
    return exitCodes.unavailable;
  return exitCodes.failed;
}

function toMessage(error: unknown): string | null {
  // commander has already printed its message
  if (error instanceof CommanderError) return null;
  if (error instanceof ConfigError || error instanceof GatewayError || error instanceof CommandFailed) return error.message;
  if (isDatabaseDown(error)) return 'the database is unreachable';
  if (isTemporalDown(error)) return 'Temporal is unreachable';
  return describeError(error).stack ?? String(error);
}

// who has read enough closes the pipe, as `head` does: a command goes on with its work, and prints nothing more
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });

createProgram()
  .parseAsync()
  .catch((error: unknown) => {
    const message = toMessage(error);
    if (message !== null) process.stderr.write(`gateway: ${message}\n`);
    process.exitCode = toExitCode(error);
  })
  // what has not answered in time is waited for by nobody
  .finally(() => process.stdout.write('', () => process.exit()));
