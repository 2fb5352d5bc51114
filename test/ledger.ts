import type { DataSource } from 'typeorm';
import { type AuthoriserActivityOptions, createAuthoriserActivities } from '../activities/authoriser';
import { createTransferActivities, type TransferActivityOptions } from '../activities/transfer';
import { OwnAddresses } from '../src/accounts/own-addresses';
import { getFamily } from '../src/chains/families';
import type { ChainRegistry } from '../src/chains/registry';
import type { BeginSigningResult, NextAttempt, SignedAttempt, TransferActivities } from '../src/messages/transfer';
import type { AuthoriserActivities } from '../src/messages/authoriser';
import { getSignedType } from '../src/signed-types';
import type { Prepared } from '../src/chains/types';
import { Orders } from '../src/orders/orders';
import { inTransaction } from '../src/platform/database';
import { notFound } from '../src/platform/errors';
import { newId } from '../src/platform/ids';
import { type Acceptance, type AcceptDependencies, acceptTransfer } from '../src/transfers/accept/accept';
import { cancelTransfer } from '../src/transfers/end/cancel';
import type { TransferRequest } from '../src/transfers/accept/request';
import { loadAttempts } from '../src/transfers/load-attempts';
import { markSubmitted, recordSigned } from '../src/transfers/sign/record-signed';
import { StartLimits } from '../src/transfers/start/start-limits';
import { findTransaction, findTransactionForUpdate } from '../src/transactions/state';
import { countSponsored } from '../src/x402/settlement/send-approval';
import { AttestedKeys } from '../src/wallets/attested-keys';
import { nodeKeys } from './node-refusals';
import { deployment, orderSigner } from './orders';

export const roomyStartLimits = { maxInFlight: 1e6, maxPending: 1e6, maxPendingPerClient: 1e6 };
export const roomyGenerationLimits = { ...roomyStartLimits };

const silent = { error: () => undefined };

/** Dependencies of accepting a transfer, with limits that are never reached unless a test sets them. */
export const acceptDependencies = (
  database: DataSource,
  registry: ChainRegistry,
  changes: Partial<AcceptDependencies> = {},
): AcceptDependencies => ({
  database,
  registry,
  getFamily,
  starts: new StartLimits(roomyStartLimits, countSponsored),
  addresses: new OwnAddresses(new AttestedKeys(nodeKeys, silent), changes.getFamily ?? getFamily, silent),
  approvalWaitSeconds: 86_400,
  ...changes,
});

/** The steps of a transfer's workflow, and the acts of its client before and beside it. */
export interface TestLedger extends TransferActivities, AuthoriserActivities {
  /** Of `broadcast`, what comes before the sending; returns the id of the signed transaction. */
  recordSigned(input: SignedAttempt): Promise<{ hash: string }>;
  /** Of `broadcast`, what comes after the sending. */
  markSubmitted(input: { txId: string; attempt: number }): Promise<{ status: string }>;
  /** Begins an attempt like the workflow: one that exists already is resumed. */
  beginAttempt(next: NextAttempt & { prepared: Prepared }): Promise<BeginSigningResult>;
  /** POST /transfer without HTTP: accepts and locks; repeated, like a client, while too many requests wait for the same account. */
  lockTransfer(request: TransferRequest): Promise<Acceptance>;
  /** POST /transactions/{tx_id}/cancel without HTTP, by the transfer's own client. */
  cancelTransfer(input: { txId: string }): Promise<{ status: string }>;
}

export type TestLedgerOptions = Omit<TransferActivityOptions, 'approvalWaitSeconds'> &
  Partial<Pick<TransferActivityOptions, 'approvalWaitSeconds'>> &
  Pick<AuthoriserActivityOptions, 'getSignedType' | 'keyPoolSize'>;

export function createTestLedger(options: TestLedgerOptions): TestLedger {
  const { database, registry } = options;
  const accept = acceptDependencies(database, registry, options.getFamily && { getFamily: options.getFamily });
  const authoriser = orderSigner.then((signer) =>
    createAuthoriserActivities({ getFamily, ...options, orders: new Orders({ signer, deployment }), nodeKeys }),
  );
  const beginSigning: AuthoriserActivities['beginSigning'] = async (input) => (await authoriser).beginSigning(input);
  const ordering: Omit<AuthoriserActivities, 'beginSigning'> = {
    recordNodeRefusals: async (input) => (await authoriser).recordNodeRefusals(input),
    orderKeyGeneration: async (input) => (await authoriser).orderKeyGeneration(input),
    orderKeyBinding: async (input) => (await authoriser).orderKeyBinding(input),
    orderPooledKey: async (input) => (await authoriser).orderPooledKey(input),
    offerPooledKey: async (input) => (await authoriser).offerPooledKey(input),
    takePooledKey: async (input) => (await authoriser).takePooledKey(input),
    orderAccountKey: async (input) => (await authoriser).orderAccountKey(input),
    orderAccountKeyBinding: async (input) => (await authoriser).orderAccountKeyBinding(input),
    orderBlacklistPage: async (input) => (await authoriser).orderBlacklistPage(input),
  };
  return {
    ...createTransferActivities({ ...options, approvalWaitSeconds: options.approvalWaitSeconds ?? 86_400 }),
    ...ordering,
    beginSigning,
    recordSigned: ({ txId, attempt, ...signed }) =>
      inTransaction(database, async (manager) => {
        const transfer = await findTransactionForUpdate(manager, txId);
        const family = (options.getFamily ?? getFamily)(registry.get(transfer.chain).family);
        const begun = (await loadAttempts(manager, txId)).get(attempt);
        const { id } = await recordSigned(manager, { getSignedType, ...options, family }, transfer, begun, signed);
        return { hash: id };
      }),
    markSubmitted: async ({ txId, attempt }) => {
      const { id } = (await loadAttempts(database.manager, txId)).getSigned(attempt).signed;
      const sent = await findTransaction(database.manager, txId);
      return markSubmitted({ getSignedType, ...options }, sent, { attempt, id });
    },
    beginAttempt: async ({ txId, attempt, kind, prepared }) => {
      const begun = await beginSigning({ txId, lastAttempt: attempt - 1, kind, prepared });
      return begun.outcome === 'stale' ? beginSigning({ txId, lastAttempt: begun.attempt, kind: 'resume' }) : begun;
    },
    lockTransfer: (request) => whileUnavailable(() => acceptTransfer(accept, request)),
    cancelTransfer: async ({ txId }) => {
      const [row] = await database.query<{ client_id: string }[]>('select client_id from transactions where tx_id = $1', [txId]);
      if (!row) throw notFound('transaction');
      await cancelTransfer(database, { clientId: row.client_id, txId, by: { userId: newId(), requestId: newId() } });
      return { status: 'CANCELLED' };
    },
  };
}

async function whileUnavailable<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      if ((error as { code?: string }).code !== 'unavailable' || tries === 10) throw error;
    }
  }
}
