import type { Command } from 'commander';
import { renderUnicodeCompact } from 'uqr';
import { cannotBeUndone, confirm, type Confirmation, hasReason, type Reasoned } from './confirmation';
import type { Enrolment } from './totp-enrolment';
import { TotpOperations } from './totp-operations';
import { GatewayError } from '../platform/errors';
import type { Run } from './run';
import { print, printRow } from './output';
import { type Ask, withPrompt } from './prompt';
import { openBox } from './secrets';
import type { Session } from './session';

const maxAttempts = 3;

interface EnrolOptions extends Confirmation {
  replace?: boolean;
  prompt: boolean;
}

const endOf = (user: string): string => `end the current second factor of ${user}`;
const operations = ({ database }: Session) => new TotpOperations(database, () => openBox('TOTP_SECRETS_KEY'));

/** totp */
export function addTotpCommands(program: Command, run: Run): void {
  const totp = program.command('totp').description('second factors of users; a user is given by id or as client/user');
  cannotBeUndone(totp.command('enroll <user>'))
    .description('show a new secret as QR code and confirm it with a code from the user’s app')
    .option('--replace', 'replace the current second factor of the user, which ends at once: asks before')
    .option('--no-prompt', 'do not ask for the code; use `totp confirm` instead (implied by --json)')
    .action(
      run(async (session, reference: string, { replace = false, prompt, ...confirmation }: EnrolOptions) => {
        if (replace) await confirm(endOf(reference), confirmation);
        const enrolment = await operations(session).enroll(reference, { replace, reason: confirmation.reason });
        show(enrolment, session.json);
        if (prompt && !session.json) await withPrompt((ask) => askAndConfirm(session, enrolment, ask));
      }),
    );
  totp
    .command('confirm <user> <code>')
    .description('confirm an enrolment with a code from the user’s app; the recovery codes are shown once')
    .action(
      run(async (session, reference: string, code: string) => {
        const codes = await operations(session).confirm(reference, code);
        if (session.json) print(JSON.stringify({ state: 'confirmed', recovery_codes: codes }, null, 2));
        else showRecoveryCodes(codes);
      }),
    );
  cannotBeUndone(totp.command('recover <user>'))
    .description('use a recovery code (prompted for) and begin a new enrolment; the current second factor ends at once')
    .option('--no-prompt', 'do not ask for the code of the app; use `totp confirm` instead (implied by --json)')
    .action(
      run(async (session, reference: string, { prompt, ...confirmation }: EnrolOptions) => {
        await confirm(endOf(reference), confirmation);
        await withPrompt(async (ask) => {
          const enrolment = await operations(session).recover(reference, await ask('Recovery code: '), confirmation.reason);
          show(enrolment, session.json);
          if (prompt && !session.json) await askAndConfirm(session, enrolment, ask);
        });
      }),
    );
  addMaintenanceCommands(totp, run);
}

function addMaintenanceCommands(totp: Command, run: Run): void {
  totp
    .command('status <user>')
    .description('show the second factor, lock and recovery codes of a user')
    .action(
      run(async (session, reference: string) => {
        const { user, state, confirmedAt, lockedUntil, failures, recoveryCodesLeft } =
          await operations(session).status(reference);
        const row = {
          user_id: user.userId,
          user: user.name,
          state,
          confirmed_at: confirmedAt,
          wrong_codes: failures,
          locked_until: lockedUntil,
          recovery_codes_left: recoveryCodesLeft,
        };
        printRow(row, session.json);
      }),
    );
  cannotBeUndone(totp.command('remove <user>'))
    .description('remove the second factor; requests that need it are then refused with MFA_NOT_ENABLED')
    .action(
      run(async (session, reference: string, confirmation: Confirmation) => {
        await confirm(`remove the second factor of ${reference}`, confirmation);
        const { userId, name } = await operations(session).remove(reference, confirmation.reason);
        printRow({ user_id: userId, user: name, state: 'none' }, session.json);
      }),
    );
  hasReason(totp.command('unlock <user>'))
    .description('end a lock after wrong codes')
    .action(
      run(async (session, reference: string, { reason }: Reasoned) => {
        const { userId, name } = await operations(session).unlock(reference, reason);
        printRow({ user_id: userId, user: name, state: 'unlocked' }, session.json);
      }),
    );
}

function show({ user, secret, uri }: Enrolment, json: boolean): void {
  const row = { user_id: user.userId, user: user.name, secret, uri };
  if (!json) print(`${renderUnicodeCompact(uri, { border: 2 })}\n`);
  printRow(row, json);
  if (!json) print('\nThe secret cannot be shown again. It takes effect after confirmation with a code of the app.');
}

function showRecoveryCodes(codes: string[]): void {
  print('\nConfirmed. Recovery codes, each valid for one recovery; they cannot be shown again:\n');
  print(codes.join('\n'));
}

async function askAndConfirm(session: Session, { user }: Enrolment, ask: Ask): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return showRecoveryCodes(await operations(session).confirm(user.userId, await ask('\nCode of the app: ')));
    } catch (error) {
      if (attempt === maxAttempts || !(error instanceof GatewayError && error.code === 'MFA_INVALID')) throw error;
      process.stderr.write(`${error.message}\n`);
    }
  }
}
