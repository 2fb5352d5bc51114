import type { DataSource } from 'typeorm';
import { toPrepared } from '../../../src/chains/evm/details';
import type { AttemptKind, Prepared } from '../../../src/chains/types';
import type { BeginSigningResult } from '../../../src/messages/transfer';
import type { AccountEntity } from '../../../src/accounts/entity';
import type { ClientEntity } from '../../../src/auth/entity';
import { ChainRegistry, loadRegistry } from '../../../src/chains/registry';
import type { ChainDefinition } from '../../../src/chains/types';
import type { LedgerDifference } from '../../../src/ledger/compare-with-chain';
import { verifyLedger } from '../../../src/ledger/verify';
import {
  buildAccount,
  buildAsset,
  buildClient,
  buildWallet,
  fundAccount,
  ledgerAccountOf,
  randomHash,
  setFeeLevels,
  signAs,
  type BuiltWallet,
} from '../../factories';
import { createTestLedger, type TestLedger } from '../../ledger';
import { createTestDatabase, type TestDatabase } from '../../stack/database';

/** Attempts are replaced without a wait, unless a test sets one. */
export const registry = new ChainRegistry(
  loadRegistry('local', ['ethereum', 'base']).all.map((chain) => ({ ...chain, stuckAfterMs: 0 })),
);
export const ethereum = registry.get('ethereum');
export const base = registry.get('base');
export const ether = 10n ** 18n;
/** One USDC, atomic units. */
export const usdc = 10n ** 6n;

/** Fees of an attempt on an EVM chain; atomic units of the native coin. */
export interface EvmFees {
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  l1DataFee: bigint;
  minedNonce: number;
}

/** Fees for beginSigning unless a test gives others: well below the bound at the default fee levels. */
export const usualFees: EvmFees = {
  gasLimit: 65_000n,
  maxFeePerGas: 2_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
  l1DataFee: 0n,
  minedNonce: 0,
};

export const prepared = (fees: Partial<EvmFees> = {}): Prepared => {
  const { l1DataFee, ...details } = { ...usualFees, ...fees };
  return toPrepared({ ...details, gasPrice: null }, l1DataFee);
};

export interface Fixture extends Pick<TestDatabase, 'logins'> {
  url: string;
  database: DataSource;
  ledger: TestLedger;
  client: ClientEntity;
  wallet: BuiltWallet;
  account: AccountEntity;
  /** Alerts raised so far. */
  alerts: object[];
  close(): Promise<void>;
}

/** A database of its own with one client, wallet and account that has added ETH and USDC. */
export async function createFixture({ poolSize = 20 } = {}): Promise<Fixture> {
  const test = await createTestDatabase({ poolSize });
  const { url, logins, database } = test;
  const alerts: object[] = [];
  const ledger = createTestLedger({
    database,
    registry,
    log: { error: (alert: object) => void alerts.push(alert), warn: () => undefined },
  });
  await setFeeLevels(database, ethereum);
  const client = await buildClient(database);
  const wallet = await buildWallet(database, client);
  const account = await buildAccount(database, wallet, ethereum);
  await buildAsset(database, account, ethereum, 'ETH');
  await buildAsset(database, account, ethereum, 'USDC');
  return { url, logins, database, ledger, client, wallet, account, alerts, close: () => test.drop() };
}

export function fund(fixture: Fixture, symbol: string, amount: bigint): Promise<unknown> {
  return fundAccount(fixture.database, fixture.account, ethereum, symbol, amount);
}

/** [available, locked] of a token, atomic units. */
export async function balances(
  { database, account }: Fixture,
  symbol: string,
  chain: ChainDefinition = ethereum,
): Promise<[bigint, bigint]> {
  const { available, locked } = await ledgerAccountOf(database, account, chain, symbol);
  return [available, locked];
}

interface Begin {
  txId: string;
  attempt?: number;
  kind?: AttemptKind;
  fees?: Partial<EvmFees>;
}

/** beginSigning with the usual fees but for those given; a second attempt is a replacement. */
export function begin({ ledger }: Fixture, { txId, attempt = 1, kind, fees }: Begin): Promise<BeginSigningResult> {
  return ledger.beginAttempt({
    txId,
    attempt,
    kind: kind ?? (attempt === 1 ? 'first' : 'replacement'),
    prepared: prepared(fees),
  });
}

/** The same for an attempt that is expected to begin. */
export async function begun(fixture: Fixture, input: Begin): Promise<Extract<BeginSigningResult, { outcome: 'begun' }>> {
  const result = await begin(fixture, input);
  if (result.outcome !== 'begun') throw new Error(`signing did not begin: ${JSON.stringify(result)}`);
  return result;
}

/** beginSigning and recordSigned with the wallet's complete key; returns the hash. */
export async function sign(fixture: Fixture, txId: string, attempt = 1, fees: Partial<EvmFees> = {}): Promise<string> {
  const { unsigned } = await begun(fixture, { txId, attempt, fees });
  const { hash } = await fixture.ledger.recordSigned({
    txId,
    attempt,
    signatures: signAs(fixture.wallet, fixture.account, unsigned),
  });
  return hash;
}

export interface Effect {
  success?: boolean;
  fee?: bigint;
  debited?: bigint | null;
  received?: bigint | null;
  /** Endpoints that have all shown it; default: two. */
  agreedBy?: number | null;
  /** Blocks that the follower has scanned from the inclusion on; default: final. */
  depth?: number;
}

/** Block of every inclusion. */
const includedAt = 7;

/** Stores the inclusion of an attempt as the follower does, once it has scanned so many blocks. */
export async function include({ database }: Fixture, txId: string, attempt: number, effect: Effect = {}): Promise<void> {
  const { success = true, fee = 21_000n, debited = null, received = debited, agreedBy = 2, depth } = effect;
  await database.query(
    `update transfer_attempts set block_number = ${includedAt}, block_hash = $3, success = $4, fee = $5, debited = $6, received = $7, agreed_by = $8,
            included_id = coalesce(tx_hash, 'unseen')
      where tx_id = $1 and attempt = $2`,
    [txId, attempt, randomHash(), success, fee.toString(), debited?.toString() ?? null, received?.toString() ?? null, agreedBy],
  );
  const [{ chain }] = await database.query<[{ chain: string }]>('select chain from transactions where tx_id = $1', [txId]);
  const { finalityDepth } = registry.get(chain);
  await database.query('update chain_cursors set next_block = $1 where chain = $2', [
    includedAt + (depth ?? finalityDepth),
    chain,
  ]);
}

export function differences({ database }: Fixture): Promise<LedgerDifference[]> {
  return verifyLedger(database.manager);
}

/** Code of the GatewayError a call fails with; 'none' when it does not fail. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'none';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}
