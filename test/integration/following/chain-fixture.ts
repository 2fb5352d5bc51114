import type { HDKey } from '@scure/bip32';
import type { AccountEntity } from '../../../src/accounts/entity';
import { createChainActivities } from '../../../activities/chain';
import type { ChainObservation } from '../../../src/messages/transfer';
import type { ChainClient } from '../../../src/chains/chain-client';
import type { GetFamily } from '../../../src/chains/family';
import { ChainRegistry } from '../../../src/chains/registry';
import type { AttemptKind, Hex } from '../../../src/chains/types';
import type { KeyMaterial } from '../../../src/mpc/verify/signers';
import { confirmDeposits } from '../../../src/deposits/confirm';
import { orphanDeposits } from '../../../src/deposits/orphan';
import { endPendingDeposits, findPendingHashes, recordPendingDeposits } from '../../../src/deposits/pending';
import { depositAddresses, recordDeposits } from '../../../src/deposits/record';
import { ChainAlarms } from '../../../src/following/chain-alarms';
import { followChain } from '../../../src/following/follower';
import { FundingMemory } from '../../../src/following/funding-memory';
import { ObservationNotifier } from '../../../src/following/observation-notifier';
import type { DepositsPort, FollowOptions, SignalTransfer } from '../../../src/following/ports';
import { Alarms } from '../../../src/platform/alarms';
import { createLogger } from '../../../src/platform/logging';
import { getSignedType as productTypes } from '../../../src/signed-types';
import type { GetSignedType } from '../../../src/transactions/signed-type';
import {
  buildAccount,
  buildAsset,
  buildClient,
  buildTransferRequest,
  buildWallet,
  ledgerAccountOf,
  signAs,
  type SignOptions,
} from '../../factories';
import { createTestLedger } from '../../ledger';
import { claimsOf } from '../../orders';
import { createTestDatabase } from '../../stack/database';

/** Given the url of a node, the one at which the gateway finds it. */
export type Route = (url: string) => Promise<string>;
export const direct: Route = (url) => Promise.resolve(url);

export interface FixtureOptions {
  client: ChainClient;
  getFamily: GetFamily;
  /** Tokens that both accounts have added. */
  symbols: string[];
  /** In place of the product's. */
  getSignedType?: GetSignedType;
  /** Of the wallet, in place of a random one. */
  key?: HDKey;
}

/** What a test changes for one call. */
interface FollowChanges extends Partial<FollowOptions> {
  signalTransfer?: SignalTransfer;
  resignalMs?: number;
}

/** A database with two accounts on a chain, and everything between them but Temporal and the nodes that sign. */
export async function createChainFixture({ client, getFamily, symbols, getSignedType = productTypes, key }: FixtureOptions) {
  const { chain } = client;
  const testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  const registry = new ChainRegistry([chain]);
  const logger = createLogger('test', 'error');
  logger.level = 'silent';

  const tenant = await buildClient(database);
  const wallet = await buildWallet(database, tenant, key && { key });
  const [alice, bob] = [
    await buildAccount(database, wallet, chain, getFamily),
    await buildAccount(database, wallet, chain, getFamily),
  ];
  for (const account of [alice, bob]) for (const symbol of symbols) await buildAsset(database, account, chain, symbol);

  const signals: { txId: string; observation: ChainObservation }[] = [];
  const reorged: string[] = [];
  const reopened: string[] = [];
  const options = {
    database,
    getFamily,
    getSignedType,
    deposits: {
      recordDeposits: (...[manager, on, found]: Parameters<DepositsPort['recordDeposits']>) =>
        recordDeposits(manager, on, found, getFamily),
      recordPendingDeposits: (...[manager, on, found]: Parameters<DepositsPort['recordPendingDeposits']>) =>
        recordPendingDeposits(manager, on, found, { findFamily: getFamily }),
      findPendingHashes,
      endPendingDeposits,
      confirmDeposits,
      orphanDeposits,
      depositAddresses,
    },
    signalTransfer: (txId: string, observation: ChainObservation) => {
      signals.push({ txId, observation });
      return Promise.resolve('sent' as const);
    },
    onConfirmedReorged: (txId: string) => {
      reorged.push(txId);
      return Promise.resolve();
    },
    cancelReopened: (txId: string) => {
      reopened.push(txId);
      return Promise.resolve();
    },
    chainAlarms: new ChainAlarms(logger),
    alarms: new Alarms(logger),
    logger,
  };
  const ledger = createTestLedger({ database, registry, getFamily, getSignedType });
  const onChain = createChainActivities({ ...options, clients: new Map([[chain.name, client]]) });

  const observe = (txId: string) => onChain.observe({ txId });

  /** Follows until everything up to the head is processed. Nothing is remembered of an earlier call, unless `notifier` is given. */
  const follow = async ({ signalTransfer = options.signalTransfer, resignalMs = 60_000, ...more }: FollowChanges = {}) => {
    const stop = new AbortController();
    const { number: head } = await client.head();
    let beats = 0;
    return followChain({
      ...options,
      observe,
      chain,
      client,
      notifier: new ObservationNotifier(signalTransfer, logger, resignalMs),
      funding: new FundingMemory(),
      pollMs: 5,
      sliceMs: 20_000,
      signal: stop.signal,
      // two more polls after the head: one that finds nothing new looks at the tip
      heartbeat: ({ nextBlock }) => {
        if (nextBlock > head && (beats += 1) > 2) stop.abort();
      },
      ...more,
    });
  };

  const balance = async (account: AccountEntity, symbol: string) => {
    const { available, locked } = await ledgerAccountOf(database, account, chain, symbol);
    return { available, locked };
  };
  const transaction = async (txId: string) => {
    const [row] = await database.query<Record<string, unknown>[]>('select * from transactions where tx_id = $1', [txId]);
    return row as Record<string, unknown>;
  };
  const attempts = (txId: string) =>
    database.query<Record<string, unknown>[]>('select * from transfer_attempts where tx_id = $1 order by attempt', [txId]);
  const inbound = () =>
    database.query<Record<string, string>[]>(
      `select tx_hash, position, status, amount, token_symbol from transactions where transaction_type = 'INBOUND' order by tx_id`,
    );

  /** Signs with the keys of both accounts, whichever the transfer is from. */
  const signatures = (unsigned: Hex, from: string, more: SignOptions = {}): Hex[] => {
    const account = [alice, bob].find(({ address }) => address === from) as AccountEntity;
    return signAs(wallet, account, unsigned, { getFamily, cosigners: [alice, bob], ...more });
  };
  /** Prepares, begins, signs and records one attempt of a transfer. */
  const sign = async (txId: string, attempt: number, kind: AttemptKind = attempt === 1 ? 'first' : 'replacement') => {
    const next = { txId, attempt, kind };
    const begun = await ledger.beginAttempt({ ...next, prepared: await onChain.prepareAttempt(next) });
    if (begun.outcome !== 'begun') throw new Error(`not begun: ${JSON.stringify(begun)}`);
    const { unsigned, order } = begun;
    return ledger.recordSigned({ txId, attempt, signatures: signatures(unsigned, claimsOf(order).from) });
  };
  const transfer = async (changesOfRequest: Parameters<typeof buildTransferRequest>[2]) => {
    const request = buildTransferRequest(alice, chain, changesOfRequest);
    await ledger.lockTransfer(request);
    return request.txId;
  };
  const close = () => testDatabase.drop();
  return {
    database,
    logins: testDatabase.logins,
    registry,
    chain,
    client,
    getFamily,
    wallet,
    alice,
    bob,
    signals,
    reorged,
    /** Of which the follower has asked for a cancellation, after their end. */
    reopened,
    options: { ...options, observe },
    ledger,
    onChain,
    follow,
    balance,
    transaction,
    attempts,
    inbound,
    signatures,
    sign,
    transfer,
    close,
  };
}

type CommonFixture = Awaited<ReturnType<typeof createChainFixture>>;

/** With what each chain has of its own. */
export interface ChainFixture extends CommonFixture {
  /** Of accounts that have keys of their own; by key id. */
  ownKeys?: [string, KeyMaterial][];
  mine: (blocks?: number) => Promise<void>;
}
