import { createWalletClient, http, type Hex } from 'viem';
import type { AccountEntity } from '../../../src/accounts/entity';
import { createChainActivities } from '../../../activities/chain';
import { createTransferActivities } from '../../../activities/transfer';
import type { ChainObservation } from '../../../src/messages/transfer';
import { EvmChainClient } from '../../../src/chains/evm/client';
import { ChainRegistry } from '../../../src/chains/registry';
import type { ChainDefinition } from '../../../src/chains/types';
import { confirmDeposits, depositAddresses, orphanDeposits, recordDeposits } from '../../../src/deposits/service';
import { followChain } from '../../../src/following/follower';
import type { FollowOptions } from '../../../src/following/ports';
import { contractArtifacts } from '../../../dev/contracts';
import { createLogger } from '../../../src/platform/logging';
import {
  buildAccount,
  buildAsset,
  buildClient,
  buildTransferRequest,
  buildWallet,
  ledgerAccountOf,
  signAs,
} from '../../factories';
import { createTestDatabase } from '../../stack/database';
import { localChain, rich, startAnvil } from '../chains/anvil';

/** A chain, a database with two accounts, and everything between them but Temporal and the nodes that sign. */
export async function createFollowBench(changes: Partial<ChainDefinition> = {}) {
  const [anvil, testDatabase] = await Promise.all([startAnvil({ noMining: true }), createTestDatabase()]);
  const { database } = testDatabase;
  const usdc = await anvil.deploy('TestUSDC');
  const chain = localChain('ethereum', { USDC: usdc }, changes);
  const client = new EvmChainClient(chain, [anvil.url]);
  const registry = new ChainRegistry([chain]);
  const logger = createLogger('test', 'error');
  logger.level = 'silent';

  const tenant = await buildClient(database);
  const wallet = await buildWallet(database, tenant);
  const [alice, bob] = [await buildAccount(database, wallet, chain), await buildAccount(database, wallet, chain)];
  for (const account of [alice, bob]) for (const symbol of ['ETH', 'USDC']) await buildAsset(database, account, chain, symbol);

  const signals: { txId: string; observation: ChainObservation }[] = [];
  const reorged: string[] = [];
  const options = {
    database,
    deposits: { recordDeposits, confirmDeposits, orphanDeposits, depositAddresses },
    signalTransfer: (txId: string, observation: ChainObservation) => {
      signals.push({ txId, observation });
      return Promise.resolve('sent' as const);
    },
    onConfirmedReorged: (txId: string) => {
      reorged.push(txId);
      return Promise.resolve();
    },
    logger,
  };
  const ledger = createTransferActivities({ database, registry });
  const onChain = createChainActivities({ ...options, clients: new Map([[chain.name, client]]), registry });

  /** Follows until everything up to the head is processed. */
  const follow = async (more: Partial<FollowOptions> = {}) => {
    const stop = new AbortController();
    const { number: head } = await client.head();
    let beats = 0;
    return followChain({
      ...options,
      chain,
      client,
      pollMs: 5,
      resignalMs: 60_000,
      sliceMs: 20_000,
      signal: stop.signal,
      // two more polls after the head: one that finds nothing new looks at the tip
      heartbeat: ({ nextBlock }) => {
        if (nextBlock > head && (beats += 1) > 2) stop.abort();
      },
      ...more,
    });
  };

  const mine = (blocks = 1) => anvil.client.mine({ blocks });
  const outside = createWalletClient({ account: rich[0], transport: http(anvil.url) });
  const send = (account: AccountEntity, value: bigint) =>
    outside.sendTransaction({ chain: null, to: account.address as Hex, value });
  const mint = async (account: AccountEntity, value: bigint) =>
    outside.writeContract({
      chain: null,
      address: usdc,
      abi: (await contractArtifacts()).TestUSDC.abi,
      functionName: 'mint',
      args: [account.address, value],
    });
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

  /** Locks, prepares, signs and records one attempt of a transfer. */
  const sign = async (txId: string, attempt: number) => {
    const next = { txId, attempt, kind: attempt === 1 ? ('first' as const) : ('replacement' as const) };
    const begun = await ledger.beginSigning({ ...next, prepared: await onChain.prepareAttempt(next) });
    if (begun.outcome !== 'begun') throw new Error(`not begun: ${begun.outcome}`);
    const from = [alice, bob].find(({ derivationPath }) => derivationPath === begun.request.signers[0]?.path) as AccountEntity;
    return ledger.recordSigned({ txId, attempt, signatures: signAs(wallet, from, begun.request.unsigned) });
  };
  const transfer = async (changesOfRequest: Parameters<typeof buildTransferRequest>[2]) => {
    const request = buildTransferRequest(alice, chain, changesOfRequest);
    await ledger.lockTransfer(request);
    return request.txId;
  };
  const close = async () => {
    await testDatabase.drop();
    await anvil.stop();
  };
  return {
    anvil,
    database,
    chain,
    client,
    wallet,
    alice,
    bob,
    signals,
    reorged,
    options,
    ledger,
    onChain,
    follow,
    mine,
    send,
    mint,
    balance,
    transaction,
    attempts,
    inbound,
    sign,
    transfer,
    outside,
    close,
  };
}

export type FollowBench = Awaited<ReturnType<typeof createFollowBench>>;
