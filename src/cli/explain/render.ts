import { type Row, formatRow, formatRows, printable } from '../output';
import type { AccountReport } from './account';
import type { Action } from './actions';
import type { TransactionReport } from './transaction';
import type { UnmadeReport } from './unmade';

/** A page as text. A section without rows says so in one word, so that nothing is taken for forgotten. */
const section = (title: string, body: string): string => `${title}\n${indent(body)}`;
const indent = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`.trimEnd())
    .join('\n');
const lines = (texts: readonly string[]): string => (texts.length === 0 ? '(none)' : texts.map(printable).join('\n'));

/** Only what is known, so that the page stays short. */
const known = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== null));

const formatActions = (actions: readonly Action[]): string =>
  actions.length === 0
    ? 'Nothing: it goes on, or has ended, by itself.'
    : actions
        .map(({ name, by, command, effect }) => `${name} (${by}): ${printable(command)}\n    ${printable(effect)}.`)
        .join('\n');

export function formatTransaction(report: TransactionReport): string {
  const { state, workflow } = report;
  const live = workflow.live && [`step: ${workflow.live.step}${workflow.live.detail && `: ${workflow.live.detail}`}`];
  const pending = workflow.pending.map(
    ({ activity, attempt, last_failure: failure }) =>
      `trying ${activity}, for the ${attempt}. time${failure === null ? '' : `; the last failure: ${failure}`}`,
  );
  return [
    section('Transaction', formatRow(known(report.transaction))),
    section(`State: ${state.status} since ${state.since.toISOString()}`, lines(state.why)),
    section('What can be done now', formatActions(report.actions)),
    section(
      'Workflow',
      lines([
        `${workflow.note}.`,
        ...(live ?? []),
        ...(workflow.state === 'open' && !workflow.possible
          ? ['The run has not said which commands it would take: none of them is listed.']
          : []),
        ...pending,
        ...(workflow.workflow_id === null ? [] : [workflow.link ?? `workflow id: ${workflow.workflow_id}`]),
        ...report.undelivered.map(({ kind, since }) => `not delivered yet: ${kind}, since ${since.toISOString()}`),
      ]),
    ),
    section('Timeline', formatRows(report.timeline)),
    ...(report.approval ? [section('Approval', formatRow(report.approval))] : []),
    section('Orders', formatRows(report.orders.map((order) => ({ ...order })))),
    section(
      `Attempts (chain: ${printable(report.chain.note)}${report.chain.head === null ? '' : `; its head is ${report.chain.head}`})`,
      formatRows(
        report.attempts.map((attempt) => ({ ...attempt, resources: attempt.resources.join(' '), ids: attempt.ids.join(' ') })),
      ),
    ),
    section('Locked', lines(report.locked.map(({ amount, symbol }) => `${amount} ${symbol}`))),
    section('Postings', formatRows(report.postings.map((posting) => ({ ...posting })))),
    ...(report.frozen_assets.length > 0
      ? [section('Frozen assets of its account', formatRows(report.frozen_assets.map((asset) => ({ ...asset }))))]
      : []),
    ...(report.related.length > 0
      ? [section('Transactions that serve it', formatRows(report.related.map((row) => ({ ...row }))))]
      : []),
    section('Webhooks', formatRows(report.webhooks.map((delivery) => ({ ...delivery })))),
    section(
      'Audit log, newest first',
      formatRows(
        report.audit.map(({ at, action, outcome, actor_type: type, actor_id: actor, detail }) => ({
          ...{ at, action, outcome, actor: `${type} ${actor}` },
          detail: Object.entries(detail)
            .map(([name, value]) => `${name}=${String(value)}`)
            .join(' '),
        })),
      ),
    ),
  ].join('\n\n');
}

const nothingOf: Record<UnmadeReport['status'], string> = {
  refused: 'Nothing: `gateway settlers withdraw` asks for another one.',
  requested: 'Nothing, until the orders are compared.',
};

export const formatUnmade = ({ withdrawal, status, why, actions }: UnmadeReport): string =>
  [
    section('Withdrawal from a settler', formatRow(known(withdrawal))),
    section(`State: ${status}`, lines(why)),
    section('What can be done now', actions.length > 0 ? formatActions(actions) : nothingOf[status]),
  ].join('\n\n');

export const formatAccount = (report: AccountReport): string =>
  [
    section('Account', formatRow(known(report.account))),
    section('Balances', formatRows(report.balances)),
    section('Open transactions, newest first', formatRows(report.open_transactions)),
    ...(report.used_elsewhere.length > 0
      ? [
          section(
            'Used elsewhere: transactions that the chain has executed and the gateway has begun',
            formatRows(report.used_elsewhere),
          ),
        ]
      : []),
    section('What can be done now', formatActions(report.actions)),
  ].join('\n\n');

export interface Candidates {
  accounts: Row[];
  transactions: Row[];
  is_cut: boolean;
}

export const formatCandidates = ({ accounts, transactions, is_cut: isCut }: Candidates): string =>
  [
    ...(accounts.length > 0 ? [section('Accounts', formatRows(accounts))] : []),
    ...(transactions.length > 0
      ? [section(`Transactions, newest first${isCut ? ' (there are more)' : ''}`, formatRows(transactions))]
      : []),
  ].join('\n\n');
