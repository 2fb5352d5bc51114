import { storeForeignTransactions, takeBackForeignTransactions } from '../../../src/chains/foreign-transactions';
import { createFindOrigins, storeOrigins } from '../../../src/chains/origins';
import { storeOutputs, takeBackOutputs } from '../../../src/chains/outputs';
import { findDoubtedOrdinals, findReservations } from '../../../src/chains/reservations';
import { findAncestors } from '../../../src/chains/unconfirmed';
import { confirmDeposits } from '../../../src/deposits/confirm';
import { orphanDeposits } from '../../../src/deposits/orphan';
import { endPendingDeposits, findPendingHashes, recordPendingDeposits } from '../../../src/deposits/pending';
import { depositAddresses, recordDeposits } from '../../../src/deposits/record';
import { findInclusions } from '../../../src/following/block-inclusions';
import { findContradictedEnds, findExecutedAfterProof } from '../../../src/following/contradicted-ends';
import { findForeignSpends, storeForeignSpends, takeBackForeignSpends } from '../../../src/following/foreign-spends';
import { findFork } from '../../../src/following/fork';
import { findAttemptsAmong } from '../../../src/following/found-attempts';
import { FundingMemory } from '../../../src/following/funding-memory';
import { FundingWatch } from '../../../src/following/funding-watch';
import * as inclusions from '../../../src/following/inclusions';
import { findAwaited } from '../../../src/following/observations';
import { reopenFinal } from '../../../src/following/reopen-final';
import * as store from '../../../src/following/store';
import { Alarms } from '../../../src/platform/alarms';
import { newId } from '../../../src/platform/ids';
import { getSignedType } from '../../../src/signed-types';
import { transactionTypes } from '../../../src/transactions/types';
import { findTransaction } from '../../../src/transactions/state';
import { observeTransfer } from '../../../src/transfers/confirm/observe';
import { correctReorged, reconcileReorg } from '../../../src/transfers/confirm/reconcile-reorg';
import { endIfUsedUp } from '../../../src/transfers/confirm/used-up';
import { findParkedBefore, findUnexecutedBefore } from '../../../src/transfers/line';
import { loadAttempts } from '../../../src/transfers/load-attempts';
import { isCancellationDue } from '../../../src/transfers/reopened';
import { bitcoin, ethereum, finality, head, idOf, million, realAddress, signingAt } from './plan-rows';
import type { Step } from './sent-statements';

const nothing = () => undefined;
export const silent = { error: nothing, warn: nothing, info: nothing, child: () => silent } as never;

const near = head - 10;
const deposit = (n: number) => ({
  ...{ txHash: `h${n}`, position: '0', fromAddress: 'x', toAddress: realAddress, tokenContract: null, amount: 1n },
});
/** A full block of a chain with outputs: of few that it spends and makes the gateway has an account. */
const full = {
  ...{ number: head, hash: `b${head}`, parentHash: `b${head - 1}`, transactions: [], deposits: [] },
  outputs: {
    made: Array.from({ length: 200 }, (_, n) => ({
      ...{ resource: `o${million + n}`, owner: `a${n}`, amount: 1n, spendableFrom: head, madeBy: `h${n}` },
    })),
    spent: Array.from({ length: 20_000 }, (_, n) => ({ resource: n % 100 === 0 ? `o${n * 10}` : `x${n}`, by: `s${n}` })),
    origins: Array.from({ length: 5_000 }, (_, n) => ({ id: `h${n}`, blockNumber: head, inputs: [`i${n}`, `j${n}`] })),
  },
};
const transactions = Array.from({ length: 5_000 }, (_, n) => ({ id: `h${n}`, messageKey: n % 10 === 0 ? `m${n}` : null }));
const signed = transactions.slice(0, 100).map((it, n) => ({ ...it, position: { owner: `a${n}`, ordinal: BigInt(n) } }));

/** Confirmed, and not final; what it has paid is posted. */
const confirmed = idOf('transaction', million - 299);
/** Submitted. */
const open = idOf('transaction', million - 101);
/** Signed, and not known to be sent. */
const signing = idOf('transaction', signingAt);
/** Failed in a block that is final, with two attempts. */
const failedAt = million - 999;
const failed = idOf('transaction', failedAt);
/** Confirmed, of a settler, which was charged for it. */
const settlement = idOf('subject', 5);
const attemptOf = (txId: string, n: number) => ({ txId, attempt: 1, id: `h${n}` });
const effect = { blockNumber: near, blockHash: `b${near}`, success: true, fee: 1n, debited: null, received: null };
const nobody = () => Promise.reject(new Error('nobody asks'));

/** Of a chain that shows what a test says, and takes everything that it is sent. */
const chainThatShows = (state: 'absent' | 'included' | 'impossible') => ({
  ...{ chain: ethereum, endpoint: 'e' },
  broadcast: () => Promise.resolve({ outcome: 'accepted' }),
  block: (number: number) => Promise.resolve({ hash: number > near ? 'another' : `b${number}` }),
  effectAtEach: () => Promise.resolve([effect]),
  status: async (attempts: { attempt: number }[], _reservations: unknown, findOrigins: (ids: string[]) => Promise<unknown>) => {
    await findOrigins(['m1', 'h2']);
    if (state === 'included') return [{ attempt: 1, state, id: 'h1', depth: 5, effect }];
    return attempts.map(({ attempt }) => ({ attempt, state, proof: { ends: true, agreed_by: 2 } }));
  },
});
const asked = (database: unknown, state: 'absent' | 'included' | 'impossible' = 'absent') => {
  const client = chainThatShows(state);
  return {
    database,
    client,
    clients: new Map([['ethereum', client]]),
    getSignedType,
    logger: silent,
    alarms: new Alarms(silent),
  };
};
const observe = (database: unknown, txId: string, state: 'absent' | 'included' | 'impossible') =>
  observeTransfer(asked(database, state) as never, { txId });
const watch = {
  ...{ funding: new FundingMemory(), chain: bitcoin, client: { compareBlock: nobody } as never },
  ...{ observe: nobody, logger: silent, signal: new AbortController().signal },
};

/** What the follower of a chain does, with how many statements each step sends at least: one that ends early does not go unnoticed. */
export const followerSteps: [name: string, least: number, step: Step][] = [
  [
    'the cursor and the blocks',
    12,
    async (manager, database) => {
      await store.createCursor(manager, ethereum, 1, head, {});
      await store.findCursor(manager, ethereum);
      await store.newestBlockUpTo(manager, 'ethereum', near);
      const heartbeat = nothing;
      await findFork({ chain: ethereum, client: chainThatShows('absent') as never, database, heartbeat }, head + 1);
      await store.agree(manager, 'ethereum', { number: near, hash: `b${near}` });
      await store.setAgreedTo(manager, 'ethereum', near);
      await store.moveCursor(manager, 'ethereum', head + 1, near);
      await store.noteUntraced(manager, 'ethereum', { from: near, to: head }, 0);
      await store.dropBlocks(manager, 'ethereum', near);
      await store.storeHead(manager, 'ethereum', head, {});
      await store.storeHeadWithoutLevels(manager, 'ethereum', head);
    },
  ],
  ['scanned blocks', 2, (manager) => store.storeBlocks(manager, 'ethereum', [full], head - 256)],
  [
    'which addresses are ours',
    1,
    (manager) =>
      depositAddresses(
        manager,
        'evm',
        Array.from({ length: 5_000 }, (_, n) => `a${n * 1_000}`),
      ),
  ],
  ['attempts among the transactions of blocks', 2, (manager) => findAttemptsAmong(manager, 'ethereum', transactions)],
  [
    'what blocks did with them',
    2,
    (manager) => {
      const block = { ...full, transactions: transactions.slice(0, 100) };
      const client = {
        effects: (list: { id: string }[]) =>
          Promise.resolve(new Map(list.map(({ id }) => [id, { ...effect, blockHash: full.hash }]))),
      };
      return findInclusions(manager, { chain: ethereum, client: client as never, getSignedType }, [block]);
    },
  ],
  [
    'what attempts of every type are to do',
    4,
    async (manager) => {
      const transaction = await findTransaction(manager, settlement);
      for (const [type, { isSigned }] of Object.entries(transactionTypes))
        if (isSigned) await getSignedType(type).loadIntent(manager, transaction);
    },
  ],
  ['storing an inclusion', 2, (manager) => inclusions.storeInclusion(manager, attemptOf(confirmed, 1), effect)],
  [
    'deposits of a range',
    3,
    (manager) => recordDeposits(manager, ethereum, [{ ...deposit(3), blockNumber: near, blockHash: 'b' }]),
  ],
  [
    'deposits without a block',
    8,
    async (manager) => {
      await recordPendingDeposits(manager, ethereum, [deposit(7)]);
      await findPendingHashes(manager, 'ethereum');
      await endPendingDeposits(manager, 'ethereum', ['h3', 'h6']);
    },
  ],
  ['crediting deposits', 5, (manager) => confirmDeposits(manager, ethereum, head, head)],
  // the newest of them are credited
  ['undoing deposits', 12, (manager) => orphanDeposits(manager, ethereum, head - 60, silent)],
  ['what is final', 2, (manager) => inclusions.finalize(manager, 'ethereum', head - finality + 1)],
  ['inclusions that blocks contradict', 1, (manager) => inclusions.clearContradicted(manager, 'ethereum', head - finality, head)],
  ['inclusions of a roll-back', 1, (manager) => inclusions.clearInclusions(manager, 'ethereum', near)],
  ['what workflows wait for', 1, (manager) => findAwaited(manager, ethereum, head)],
  ['ends that the chain contradicts', 3, (manager) => findContradictedEnds(manager, 'ethereum')],
  ['attempts executed after proof', 1, (manager) => findExecutedAfterProof(manager, 'ethereum')],
  ['outputs that blocks make and spend', 5, (manager) => storeOutputs(manager, 'bitcoin', [full])],
  ['where outputs come from that blocks make', 3, (manager) => storeOrigins(manager, 'bitcoin', [full], head - finality)],
  [
    'what had counted as final and is in no block any more',
    2,
    (manager) => {
      return reopenFinal(manager, 'ethereum', [failed, ...Array.from({ length: 1_000 }, () => newId())]);
    },
  ],
  [
    'an end whose block is gone: sent again',
    13,
    async (manager, database) => {
      await inclusions.clearInclusions(manager, 'ethereum', near - 100);
      const ended = { onConfirmedReorged: () => Promise.resolve(), cancelReopened: () => Promise.resolve() };
      await correctReorged({ ...asked(database), ...ended } as never, { txId: confirmed });
      await endIfUsedUp(asked(database) as never, confirmed);
      await isCancellationDue(manager, ethereum, confirmed);
    },
  ],
  [
    'a failed end whose block is gone, and whose nonce another transaction has used up: final again',
    18,
    async (manager, database) => {
      await inclusions.clearInclusions(manager, 'ethereum', Math.floor(failedAt / 4));
      await reopenFinal(manager, 'ethereum', [failed]);
      const position = { owner: `a${failedAt % 20_000}`, ordinal: BigInt(Math.floor(failedAt / 20_000)) };
      const another = { ...full, transactions: [{ id: 'another', messageKey: 'another', position }] };
      await storeForeignTransactions(manager, 'ethereum', [another]);
      await isCancellationDue(manager, ethereum, failed);
      if (!(await endIfUsedUp(asked(database, 'impossible') as never, failed))) throw new Error('it is not used up');
    },
  ],
  [
    'an end in another block with another fee: adjusted',
    11,
    async (manager, database) => {
      const moved = { ...effect, fee: 2n };
      await inclusions.storeInclusion(manager, attemptOf(confirmed, million - 299), moved, 1);
      const outcome = await reconcileReorg({ database, log: silent }, { txId: confirmed });
      if (outcome !== 'stands') throw new Error(outcome);
    },
  ],
  [
    'an end in another block with another effect: frozen',
    8,
    async (manager, database) => {
      await inclusions.storeInclusion(manager, attemptOf(confirmed, million - 299), { ...effect, success: false });
      const outcome = await reconcileReorg({ database, log: silent }, { txId: confirmed });
      if (outcome !== 'differs') throw new Error(outcome);
    },
  ],
  [
    'what a settler was charged for a settlement whose block is gone',
    8,
    (_, database) => reconcileReorg({ database, log: silent }, { txId: settlement }),
  ],
  ['asking about a transfer that no node knows', 10, (_, database) => observe(database, open, 'absent')],
  [
    'about one that no node has taken so far: submitted',
    11,
    async (manager, database) => {
      await observe(database, signing, 'absent');
      const { status } = await findTransaction(manager, signing);
      if (status !== 'SUBMITTED') throw new Error(status);
    },
  ],
  ['about one that can never be executed', 11, (_, database) => observe(database, open, 'impossible')],
  ['about one that a block holds', 7, (_, database) => observe(database, open, 'included')],
  ['what an attempt depends on', 1, (manager) => findAncestors(manager, open, 1)],
  ['outputs of a roll-back', 3, (manager) => takeBackOutputs(manager, 'bitcoin', near)],
  [
    'spends by others',
    100,
    async (manager) => {
      await storeForeignSpends(manager, bitcoin, head - 5, head);
      await findForeignSpends(manager, 'bitcoin', near);
      await takeBackForeignSpends(manager, 'bitcoin', near);
    },
  ],
  ['parked transfers without funds', 2, (_, database) => new FundingWatch({ ...watch, database }).ask(head)],
  [
    'the same on a chain without outputs',
    2,
    (_, database) => new FundingWatch({ ...watch, chain: ethereum, database }).ask(head),
  ],
  [
    'what else has used up nonces',
    2,
    async (manager) => {
      await storeForeignTransactions(manager, 'ethereum', [
        { number: head, hash: `b${head}`, parentHash: `b${near}`, transactions: signed, deposits: [] },
      ]);
      await takeBackForeignTransactions(manager, 'ethereum', near);
    },
  ],
  [
    'the line of a sender',
    2,
    async (manager) => {
      await findParkedBefore(manager, { chain: 'ethereum', addressKey: 'a7' });
      await findUnexecutedBefore(manager, open);
    },
  ],
  ['where outputs come from', 1, (manager) => createFindOrigins(manager, 'bitcoin')(['m1', 'm2'])],
  [
    'attempts and reservations of a transfer',
    2,
    async (manager) => {
      await loadAttempts(manager, open);
      await findReservations(manager, open);
    },
  ],
  ['accounts used elsewhere', 1, (manager) => findDoubtedOrdinals(manager, 'ethereum')],
];
