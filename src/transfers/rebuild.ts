import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import { findReservations, insertReservation } from '../chains/reservations';
import type { Family, GetFamily } from '../chains/family';
import { type ChainRegistry, tokenByContract } from '../chains/registry';
import type { AttemptKind, ChainDefinition, Hex } from '../chains/types';
import { ensureLedgerAccounts, findLedgerAccount } from '../ledger/accounts';
import type { SigningClaims } from '../messages/order';
import { GatewayError } from '../platform/errors';
import { TransactionEntity } from '../transactions/entity';
import { changeState, isEnded } from '../transactions/state';
import { transferType } from '../transactions/types';
import { placeTransferHold, raiseHold } from './hold';
import { NotBegun } from './not-begun';
import { insertAttempt } from './store-attempt';

/** An order over the bytes of a transfer that the database does not have. */
export interface KnownOrder {
  claims: SigningClaims;
  /** What was shown as its bytes; those count that have the digests of the order. */
  bytes: readonly Hex[];
}

export interface RebuildDependencies {
  registry: ChainRegistry;
  getFamily: GetFamily;
}

interface Source {
  chain: ChainDefinition;
  family: Family;
  account: AccountEntity;
}

const cannot = (reason: string, cause?: unknown): GatewayError =>
  new GatewayError('business_error', reason, cause === undefined ? {} : { cause });

/**
 * Writes what the orders of one transfer say and the database lacks: the transaction with its hold, in SIGNING, its reservations and
 * attempts. The workflow, started again, finds out from the chain how it has ended. `orders`: by number. Run it as the owner of the
 * schema, in a database transaction of its own; the hold is taken at its commit.
 * @throws GatewayError business_error with the reason why it cannot be rebuilt.
 */
export async function rebuildTransfer(
  manager: EntityManager,
  deps: RebuildDependencies,
  orders: readonly KnownOrder[],
): Promise<void> {
  const [first] = orders;
  if (!first) return;
  const source = await findSource(manager, deps, first.claims);
  const stored = await findStored(manager, first.claims.tx_id);
  if (stored && isEnded(stored)) throw cannot(`the database says that it is ${stored.status}`);
  const transfer = stored ?? (await insertTransfer(manager, source, orders));
  await beginSigning(manager, transfer, first.claims);
  for (const order of orders) await storeAttempt(manager, source, transfer.txId, order);
}

const findStored = (manager: EntityManager, txId: string): Promise<TransactionEntity | null> =>
  manager.findOne(TransactionEntity, { where: { txId }, lock: { mode: 'for_no_key_update' } });

async function findSource(
  manager: EntityManager,
  { registry, getFamily }: RebuildDependencies,
  { chain: caip2, client_id: clientId, from }: SigningClaims,
): Promise<Source> {
  const chain = registry.findByCaip2(caip2);
  if (!chain) throw cannot(`chain ${caip2} is not enabled`);
  const family = getFamily(chain.family);
  const addressKey = family.parseAddress(from)?.key;
  const account = addressKey && (await manager.findOneBy(AccountEntity, { clientId, family: chain.family, addressKey }));
  if (!account) throw cannot(`the client, or its account ${from}, is not in the database`);
  return { chain, family, account };
}

/** As it was accepted, as far as its orders say: client's memo, user and approval are unknown. */
async function insertTransfer(
  manager: EntityManager,
  { chain, family, account }: Source,
  orders: readonly KnownOrder[],
): Promise<TransactionEntity> {
  const payment = orders.find(({ claims }) => claims.kind !== 'cancellation')?.claims;
  const [output, ...others] = payment?.recipients ?? [];
  const to = output && family.parseAddress(output.address);
  const token = output && tokenByContract(chain, output.token);
  if (!payment || !to || !token || others.length > 0) throw cannot('its orders do not say what it pays');
  const { accountId, walletId, clientId } = account;
  const owner = { accountId, walletId, clientId };
  await ensureLedgerAccounts(
    manager,
    [token, chain.native].map((coin) => ({ owner, chain: chain.name, token: coin })),
  );
  const asset = await findLedgerAccount(manager, accountId, chain.name, token.symbol);
  const native = await findLedgerAccount(manager, accountId, chain.name, chain.native.symbol);
  if (!asset || !native) throw new Error(`no ledger accounts for ${accountId}`);
  const { tx_id: txId, request } = payment;
  const amount = BigInt(output.amount);
  const feeLocked = orders.reduce((highest, { claims }) => max(highest, BigInt(claims.max_fee)), 0n);
  await manager.insert(TransactionEntity, {
    ...{ txId, clientId, walletId, accountId, assetId: asset.ledgerAccountId, chain: chain.name, transactionType: transferType },
    ...{ fromAddress: account.address, toAddress: to.address, toAddressKey: to.key },
    ...{ tokenSymbol: token.symbol, contractAddress: token.contract, decimals: token.decimals, amount },
    ...{ feeSymbol: chain.native.symbol, feeDecimals: chain.native.decimals, feeLocked },
    ...{ status: 'PENDING', version: 0, requiredConfirmations: chain.confirmations },
  });
  await placeTransferHold(manager, { txId, source: { asset, native }, amount, feeLocked });
  if (request !== null)
    await manager.query('insert into rebuilt_requests (request, tx_id) values ($1, $2) on conflict do nothing', [request, txId]);
  return manager.findOneByOrFail(TransactionEntity, { txId });
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

async function beginSigning(manager: EntityManager, transfer: TransactionEntity, { iat }: SigningClaims): Promise<void> {
  if (transfer.signingBegunAt !== null) return;
  const { txId } = transfer;
  let { version } = transfer;
  if (transfer.status === 'AWAITING_APPROVAL') version = await changeState(manager, { txId, version }, 'PENDING');
  await changeState(manager, { txId, version }, 'SIGNING', { signingBegunAt: new Date(iat * 1000) });
}

/** The attempt, if it is not stored, and the order. */
async function storeAttempt(
  manager: EntityManager,
  { chain, family, account }: Source,
  txId: string,
  { claims, bytes }: KnownOrder,
): Promise<void> {
  const { attempt, from } = claims;
  const unsigned = findBytes(family, claims, bytes);
  const [stored] = await manager.query<{ unsigned: Hex }[]>(
    'select unsigned from transfer_attempts where tx_id = $1 and attempt = $2',
    [txId, attempt],
  );
  if (stored && stored.unsigned !== unsigned) throw cannot(`the database has other bytes for attempt ${attempt}`);
  if (!stored) {
    const transfer = await manager.findOneByOrFail(TransactionEntity, { txId });
    await raiseHold(manager, transfer, BigInt(claims.max_fee), attempt).catch((error: unknown) => {
      throw error instanceof NotBegun ? cannot('the account cannot hold the fee of a later attempt') : error;
    });
    const resources = await takeResources(manager, { chain, family, account }, txId, unsigned);
    await insertAttempt(manager, {
      ...{ txId, attempt, kind: toAttemptKind(claims), chain: chain.name, unsigned, resources },
      prepared: family.recover(unsigned, BigInt(claims.max_fee)),
      signers: claims.signers.map(({ key_id: keyId, ...signer }) => ({ keyId, ...signer })),
      messageKey: family.messageKey(unsigned, from),
    });
  }
  await manager.query(
    `insert into orders (jti, seq, kind, tx_id, attempt, claims, issued_at) values ($1, $2, $3, $4, $5, $6, to_timestamp($7))
     on conflict (jti) do nothing`,
    [claims.jti, claims.seq, claims.kind, txId, attempt, JSON.stringify(claims), claims.iat],
  );
}

/** @throws GatewayError business_error when no bytes have the digests of the order. */
function findBytes(family: Family, { from, signers, attempt }: SigningClaims, bytes: readonly Hex[]): Hex {
  const ordered = signers.flatMap(({ digests }) => digests).sort();
  const found = bytes.find((candidate) => {
    try {
      const digests = family.signingPayloads(candidate, from).map(({ digest }) => digest);
      return isDeepStrictEqual(digests.sort(), ordered);
    } catch {
      return false;
    }
  });
  if (!found) throw cannot(`no node shows the bytes of attempt ${attempt}`);
  return found;
}

async function takeResources(
  manager: EntityManager,
  { chain, family, account }: Source,
  txId: string,
  unsigned: Hex,
): Promise<string[]> {
  const { resources } = family.describe(unsigned);
  const held = new Set((await findReservations(manager, txId)).map(({ resource }) => resource));
  const owner = { chain: chain.name, accountId: account.accountId, addressKey: account.addressKey };
  for (const resource of resources.filter((it) => !held.has(it)))
    await insertReservation(manager, owner, txId, { resource, ordinal: family.ordinalOf(resource) });
  return resources;
}

const toAttemptKind = ({ kind }: SigningClaims): AttemptKind =>
  kind === 'replacement' || kind === 'reissue' || kind === 'cancellation' ? kind : 'first';
