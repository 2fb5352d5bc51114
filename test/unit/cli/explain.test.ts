import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import type { AttemptState } from '../../../src/chains/chain-client';
import { type ActionFacts, findActions } from '../../../src/cli/explain/actions';
import { describeState } from '../../../src/cli/explain/chain';
import { formatTransaction } from '../../../src/cli/explain/render';
import { explainState, type StateFacts } from '../../../src/cli/explain/state';
import type { TransactionReport } from '../../../src/cli/explain/transaction';
import { noWorkflow, type WorkflowView } from '../../../src/cli/explain/workflow';
import { houseClientId } from '../../../src/platform/house';
import { type TransactionEntity, type TransactionStatus, transactionStatuses } from '../../../src/transactions/entity';
import { GatewayError } from '../../../src/platform/errors';
import { type Attempt, Attempts, type Inclusion } from '../../../src/transfers/attempts';

const txId = '0198a000-0000-7000-8000-000000000001';
const tx = (changes: Partial<TransactionEntity> = {}): TransactionEntity =>
  ({
    ...{ txId, clientId: 'c', transactionType: 'OUTBOUND', direction: 'out', isHeld: true, isSigned: true, status: 'PENDING' },
    ...{ signingBegunAt: null, failureCode: null, failureMessage: null, cancellationReason: null, screeningNote: null },
    ...{ requiredConfirmations: 3, blockNumber: null, approvalExpiresAt: null },
    ...changes,
  }) as TransactionEntity;
const workflow = (changes: Partial<WorkflowView> = {}): WorkflowView => ({ ...noWorkflow, state: 'open', ...changes });
const parked = (possible: WorkflowView['possible']) =>
  workflow({ possible, live: { step: 'park', attempt: 1, detail: 'stuck' } });
const attempt = (changes: Partial<Attempt> = {}) =>
  ({ attempt: 1, inclusion: null, impossibleProof: null, ...changes }) as Attempt;
const refused = new GatewayError('not_awaiting_approval', 'it does not wait');
const facts = (changes: Partial<ActionFacts>): ActionFacts => ({
  ...{ tx: tx(), attempts: new Attempts([]), workflow: workflow(), abandoned: 'cancel', approvalRefusal: refused },
  areOrdersCompared: true,
  redo: { made: null, refusal: refused },
  ...{ frozen: [], doubted: [], deliveries: [] },
  ...changes,
});
const names = (changes: Partial<ActionFacts>) => findActions(facts(changes)).map(({ name }) => name);
const ofSettler = { clientId: houseClientId, transactionType: 'GAS_WITHDRAWAL' } as const;
const signed = { signingBegunAt: new Date(0), status: 'NEEDS_ATTENTION' } as const;

describe('what can be done', () => {
  test.each<[string, Partial<ActionFacts>, string[]]>([
    ['it may be cancelled before its signing', {}, ['cancel']],
    ['it is not cancelled once signed', { tx: tx({ ...signed, status: 'SIGNING' }) }, []],
    ['a transaction of the house has no client', { tx: tx({ clientId: houseClientId }) }, []],
    [
      'an operator cancels a withdrawal, where the run takes a retry alone',
      {
        tx: tx({ ...ofSettler, status: 'NEEDS_ATTENTION' }),
        workflow: parked({ retry: true, abandon: false }),
      },
      ['retry', 'cancel'],
    ],
    [
      'and not once it is signed',
      { tx: tx({ ...ofSettler, ...signed }), workflow: parked({ retry: true, abandon: true }) },
      ['retry', 'abandon'],
    ],
    ['nor before the orders are compared', { tx: tx(ofSettler), areOrdersCompared: false }, []],
    ['coins for a payer end by their time', { tx: tx({ ...ofSettler, transactionType: 'GAS_TOPUP' }) }, []],
    ['the run takes a retry', { tx: tx(signed), workflow: parked({ retry: true, abandon: false }) }, ['retry']],
    ['the run takes both', { tx: tx(signed), workflow: parked({ retry: true, abandon: true }) }, ['retry', 'abandon']],
    ['the run has not answered', { tx: tx(signed), workflow: parked(null) }, []],
    ['the run is lost', { tx: tx(signed), workflow: workflow({ state: 'closed' }) }, ['retry']],
    ['Temporal does not know it', { tx: tx(signed), workflow: workflow({ state: 'missing' }) }, ['retry']],
    [
      'its run is lost, and another transfer stands in its place',
      { workflow: workflow({ state: 'missing' }), redo: { made: tx(), refusal: refused } },
      ['cancel'],
    ],
    [
      'the same, and its signing has begun',
      { tx: tx(signed), workflow: workflow({ state: 'missing' }), redo: { made: tx(), refusal: refused } },
      ['retry'],
    ],
    ['Temporal is silent', { tx: tx(signed), workflow: workflow({ state: 'silent' }) }, []],
    ['it has ended', { tx: tx({ ...signed, status: 'FAILED' }), workflow: workflow({ state: 'closed' }) }, []],
    [
      'it has ended, and may be redone',
      { tx: tx({ ...signed, status: 'FAILED' }), workflow: workflow({ state: 'closed' }), redo: { made: null, refusal: null } },
      ['redo'],
    ],
    [
      'it was redone',
      { tx: tx({ ...signed, status: 'FAILED' }), workflow: workflow({ state: 'closed' }), redo: { made: tx(), refusal: null } },
      [],
    ],
    [
      'the chain has executed it',
      {
        tx: tx(signed),
        workflow: parked({ retry: true, abandon: true }),
        attempts: new Attempts([attempt({ inclusion: { depth: 1n } as Inclusion })]),
      },
      ['retry'],
    ],
    [
      'a user may approve it',
      { tx: tx({ status: 'AWAITING_APPROVAL' }), approvalRefusal: null },
      ['approve', 'reject', 'cancel'],
    ],
    [
      'while orders are not compared nothing unsigned is ended',
      { tx: tx({ status: 'AWAITING_APPROVAL' }), approvalRefusal: null, areOrdersCompared: false },
      ['approve'],
    ],
    ['its asset is frozen', { tx: tx(signed), frozen: [{ asset_id: 'a', symbol: 'ETH', reason: 'a shortfall' }] }, ['unfreeze']],
    [
      'the frozen asset of an ended one is another matter',
      { tx: tx({ ...signed, status: 'FAILED' }), frozen: [{ asset_id: 'a', symbol: 'ETH', reason: 'a shortfall' }] },
      [],
    ],
    [
      'its account is used elsewhere',
      { tx: tx(signed), doubted: [{ accountId: 'a', chain: 'base', reported: 4n, expected: 3n }] },
      ['accept-count'],
    ],
  ])('%s', (_why, changes, expected) => expect(names(changes)).toEqual(expected));

  test('the count to accept is for the operator to find', () => {
    const doubted = [{ accountId: 'a', chain: 'base', reported: 4_711n, expected: 3n }];
    const [action] = findActions(facts({ tx: tx(signed), doubted }));
    expect(action?.command).toBe('gateway account accept-count a base <count>');
    expect(action?.effect).toContain('After a restore `gateway reconcile` comes first');
    expect(JSON.stringify(action)).not.toContain('4711');
  });

  test('a failed delivery is sent again while its endpoint is enabled', () => {
    const delivery = { delivery_id: 'd', webhook_id: 'w', kind: 'transaction.updated', tx_status: null } as const;
    const of = (status: string, endpoint: 'enabled' | 'disabled') =>
      names({ tx: tx(signed), deliveries: [{ ...delivery, status, endpoint_status: endpoint }] as never });
    expect([of('failed', 'enabled'), of('failed', 'disabled'), of('delivered', 'enabled')]).toEqual([['resend'], [], []]);
  });

  test('the effect of abandoning is that of the family, or of proven attempts', () => {
    const effect = (changes: Partial<ActionFacts>) =>
      findActions(facts({ tx: tx(signed), workflow: parked({ retry: false, abandon: true }), ...changes }))[0]?.effect;
    expect(effect({ abandoned: 'cancel' })).toMatch(/^A cancellation is signed/);
    expect(effect({ abandoned: 'expiry' })).toMatch(/^Nothing more is signed/);
    expect(effect({ abandoned: null })).toMatch(/^How transactions of its chain end is not known here: GATEWAY_ENV/);
    expect(effect({ attempts: new Attempts([attempt({ impossibleProof: {} })]) })).toMatch(/^Every endpoint is asked once more/);
  });
});

describe('why it is in its state', () => {
  const why = (changes: Partial<StateFacts>) =>
    explainState({
      ...{
        tx: tx(),
        workflow: { state: 'open' },
        startWaitsSince: null,
        behind: null,
        timeLeftMs: null,
        areOrdersCompared: true,
      },
      ...changes,
    });

  const sentences: Record<TransactionStatus, RegExp> = {
    PENDING: /^Accepted, and its funds are locked; nothing is signed yet\.$/,
    AWAITING_APPROVAL: /^It waits until 1970-01-01T00:00:00\.000Z for a user/,
    SIGNING: /^Signing has begun: .* cannot be cancelled\.$/,
    SUBMITTED: /^A node has taken it; it ends 3 confirmations deep\.$/,
    NEEDS_ATTENTION: /^Parked for an operator\. stuck \(/,
    CONFIRMED: /^Executed, and settled\.$/,
    REJECTED: /^Refused, by a rule or a user; nothing is locked any more\. stuck \(/,
    FAILED: /^It has failed; nothing is locked any more\. stuck \(/,
    CANCELLED: /^Ended before anything was signed; nothing is locked any more\. stuck \(/,
    DETECTED: /^Seen before a block holds it/,
    ORPHANED: /^A reorganisation has taken it back/,
  };
  test.each(transactionStatuses)('%s has its sentence', (status) =>
    expect(why({ tx: tx({ status, failureCode: 'stuck', approvalExpiresAt: new Date(0) }) })[0]).toMatch(sentences[status]),
  );

  test('one that its client has cancelled has no failure', () =>
    expect(why({ tx: tx({ status: 'CANCELLED' }) })).toEqual([
      'Cancelled by its client before anything was signed; nothing is locked any more.',
    ]));

  test('that orders are not compared is told while it is open', () => {
    expect(why({ areOrdersCompared: false })[1]).toContain('`gateway reconcile`');
    expect(why({ areOrdersCompared: false, tx: tx({ status: 'CONFIRMED' }) })).toHaveLength(1);
  });

  test('a parked one says its code, what that means, and the message', () => {
    const [sentence, ...others] = why({ tx: tx({ ...signed, failureCode: 'stuck', failureMessage: 'no block' }) });
    expect(sentence).toBe(
      'Parked for an operator. stuck (Not included in time and not replaceable within the fee bound): no block',
    );
    expect(others).toEqual(['What stuck means, and what to do: docs/runbook/failure-codes.md#stuck']);
  });

  test.each<[string, Partial<StateFacts>, boolean]>([
    ['closed', { workflow: { state: 'closed' } }, true],
    ['missing', { workflow: { state: 'missing' } }, true],
    ['running', { workflow: { state: 'open' } }, false],
    ['unknown', { workflow: { state: 'silent' } }, false],
    ['not started yet', { workflow: { state: 'missing' }, startWaitsSince: new Date(0) }, false],
    ['ended', { workflow: { state: 'closed' }, tx: tx({ status: 'CANCELLED' }) }, false],
  ])('a lost workflow is told: %s', (_case, changes, isTold) =>
    expect(why(changes).some((sentence) => sentence.includes('is not running'))).toBe(isTold),
  );

  test('what it waits for is told while it is open', () => {
    const waiting = { startWaitsSince: new Date(0), behind: 'other', timeLeftMs: 1_500 };
    expect(why({ ...waiting, tx: tx({ cancellationReason: 'expired' }) }).slice(1)).toEqual([
      'The start of its workflow waits since 1970-01-01T00:00:00.000Z.',
      'Transaction other of the same sender comes first.',
      'It is being abandoned: expired.',
      'It is abandoned by itself in 2 s if it is not executed.',
    ]);
    expect(why({ ...waiting, tx: tx({ status: 'CONFIRMED' }) })).toHaveLength(1);
    expect(why({ timeLeftMs: -1 })[1]).toBe('Its time is over: it is abandoned by itself.');
  });
});

test.each<[AttemptState, string]>([
  [{ state: 'absent' }, 'absent'],
  [{ state: 'absent', isUnfunded: true }, 'absent: a reorganisation has removed what it spends'],
  [{ state: 'absent', isUnagreed: true }, 'absent: one endpoint shows that it can never be executed, others do not yet'],
  [{ state: 'pending', id: '0x1' }, 'in the pool as 0x1'],
  [
    { state: 'included', id: '0x1', depth: 2, effect: { blockNumber: 7, success: false, fee: 1_500n } as never },
    'failed in block 7, 2 deep, as 0x1, fee 1.5 XYZ',
  ],
  [{ state: 'impossible', proof: {} }, 'can never be executed any more'],
  [{ state: 'impossible', proof: { used_by: '0x2' } }, 'can never be executed any more: 0x2 has used up what it spends'],
])('the chain shows %j', (state, text) =>
  expect(describeState({ chain: { native: { symbol: 'XYZ', decimals: 3 } } as never }, state)).toBe(text),
);

describe('the page', () => {
  const report: TransactionReport = {
    transaction: { tx_id: txId, external_id: 'order\u001b[31m 1', fee: null } as never,
    state: { status: 'PENDING', since: new Date(0), failure_code: null, failure: null, why: ['Accepted.'] },
    actions: [],
    workflow: workflow({ note: 'The workflow is running', workflow_id: 'transfer-1' }),
    undelivered: [],
    timeline: [{ status: 'PENDING', at: new Date(0) }],
    approval: null,
    orders: [],
    attempts: [],
    chain: { state: 'silent', note: 'The endpoint did not answer', head: null },
    locked: [{ amount: '1', symbol: 'ETH' }],
    postings: [],
    frozen_assets: [],
    related: [],
    webhooks: [],
    audit: [],
  };

  test('says what is known, what did not answer, and that there is nothing to do; nothing in it controls the terminal', () => {
    const page = formatTransaction(report);
    expect(page).toContain('State: PENDING since 1970-01-01T00:00:00.000Z\n  Accepted.');
    expect(page).toContain('What can be done now\n  Nothing: it goes on, or has ended, by itself.');
    expect(page).toContain('Workflow\n  The workflow is running.\n  The run has not said which commands it would take');
    expect(page).toContain('transfer-1');
    expect(page).toContain('Attempts (chain: The endpoint did not answer)\n  (none)');
    expect(page).toContain('Locked\n  1 ETH');
    expect(page).not.toMatch(/\u001b|^ {2}fee |Approval/m);
  });

  test('has each command with its effect, and the link in place of the id', () => {
    const action = { name: 'retry', by: 'operator', command: 'gateway transfers retry 1', effect: 'It goes on' } as const;
    const page = formatTransaction({ ...report, actions: [action], workflow: { ...report.workflow, link: 'http://ui/1' } });
    expect(page).toContain('retry (operator): gateway transfers retry 1\n      It goes on.');
    expect(page).toContain('http://ui/1');
    expect(page).not.toContain('transfer-1');
  });

  /** Headings, names of fields, and names of columns. */
  const namesIn = (text: string): string[] =>
    text.split('\n').flatMap((line) => {
      const [, heading] = /^([A-Z][A-Za-z ]+?)(?=$|:| \()/.exec(line) ?? [];
      const columns = /^ {2}[a-z_]+(?: {2,}[a-z_]+){2,}$/.test(line) ? line.trim().split(/ {2,}/) : [];
      const [, field] = /^ {2}([a-z_]+) {2,}\S/.exec(line) ?? [];
      return [heading, field, ...columns].filter((name) => name !== undefined);
    });

  test('has the sections, fields and columns that docs/failed-transfer.md shows, in this order', () => {
    const [, shown = ''] =
      /^\$ npx gateway explain .*\n([\s\S]*?)^```$/m.exec(
        readFileSync(path.join(projectRoot, 'docs/failed-transfer.md'), 'utf8'),
      ) ?? [];
    const at = new Date(0);
    const page = formatTransaction({
      ...report,
      transaction: {
        ...{ tx_id: txId, type: 'OUTBOUND', client_id: 'c', client: 'demo', wallet_id: 'w', account_id: 'a', chain: 'ethereum' },
        ...{
          amount: '0.25',
          symbol: 'ETH',
          from: '0x1',
          to: '0x2',
          sender: '0x1',
          tx_hash: '0x3',
          explorer: null,
          block_number: '84',
        },
        ...{ fee: '0.1 ETH', fee_locked: null, external_id: null, requested_by: null, request_id: null, parent_tx_id: null },
        ...{ retry_of: null, created_at: at, ended_at: at, retried_by: null },
      },
      attempts: [
        {
          ...{ attempt: 1, kind: 'first', resources: ['0'], begun_at: at, signed_at: at, is_broadcast: true, ids: ['0x3'] },
          ...{ on_record: 'failed', chain_now: null },
        },
      ],
      locked: [],
      postings: [{ at, kind: 'lock', bucket: 'AVAILABLE', amount: '-0.25', symbol: 'ETH' }],
    });
    const names = namesIn(shown);
    expect(names).toEqual(
      expect.arrayContaining(['Transaction', 'tx_hash', 'What can be done now', 'on_record', 'Postings', 'bucket']),
    );
    let rest = namesIn(page);
    for (const name of names) {
      expect([name, rest]).toEqual([name, expect.arrayContaining([name])]);
      rest = rest.slice(rest.indexOf(name) + 1);
    }
  });
});
