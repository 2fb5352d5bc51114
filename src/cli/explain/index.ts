import type { Command } from 'commander';
import { notFound } from '../../platform/errors';
import { print } from '../output';
import type { Run } from '../run';
import { CommandFailed, type Session } from '../session';
import { explainAccount, toRow } from './account';
import { type Found, findSubjects } from './find';
import { formatAccount, formatCandidates, formatTransaction, formatUnmade } from './render';
import { explainSources } from './sources';
import { explainTransaction } from './transaction';
import { explainUnmade } from './unmade';

/** More cannot name anything. */
const maxLength = 200;

/** explain */
export function addExplainCommand(program: Command, run: Run): void {
  program
    .command('explain <id>')
    .description(
      'one page about a transaction, by its tx_id, the hash of one of its attempts, or external_id: why it is in its state, what its workflow ' +
        'and its chain say now, and what can be done; about a withdrawal from a settler that is not made yet; or about an account, by its ' +
        'address or account_id. Changes nothing (with CHAIN_<NAME>_RPC_URLS, and TEMPORAL_UI_URL for a link)',
    )
    .action(run(explain));
}

async function explain({ database, temporal, json }: Session, id: string): Promise<void> {
  const found = id.length > maxLength ? nothing : await findSubjects(database.manager, id);
  const [[transaction, ...otherTransactions], [account, ...otherAccounts]] = [found.transactions, found.accounts];
  const show = (report: object, text: () => string) => print(json ? JSON.stringify(report, null, 2) : text());
  if (otherTransactions.length > 0 || otherAccounts.length > 0 || (transaction && account)) {
    const candidates = {
      accounts: found.accounts.map(({ accountId, clientId, address, chain, status }) => ({
        ...{ account_id: accountId, client_id: clientId, address, chain, status },
      })),
      transactions: found.transactions.map(toRow),
      is_cut: found.isCut,
    };
    show({ candidates }, () => formatCandidates(candidates));
    throw new CommandFailed('this names several: repeat the command with one of their ids');
  }
  if (transaction) {
    const report = await explainTransaction(explainSources({ database, temporal }), transaction);
    return show(report, () => formatTransaction(report));
  }
  if (!account) {
    const unmade = await explainUnmade(explainSources({ database, temporal }), id);
    if (unmade) return show(unmade, () => formatUnmade(unmade));
    throw notFound('a transaction or an account of this id, hash, address or external_id');
  }
  const report = await explainAccount(database, account);
  show(report, () => formatAccount(report));
}

const nothing: Found = { transactions: [], accounts: [], isCut: false };
