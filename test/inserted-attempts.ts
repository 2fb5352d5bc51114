import type { DataSource, EntityManager } from 'typeorm';
import { AccountEntity } from '../src/accounts/entity';
import { getFamily } from '../src/chains/families';
import { insertReservation } from '../src/chains/reservations';
import type { AttemptKind, ChainDefinition, Prepared } from '../src/chains/types';
import { TransactionEntity } from '../src/transactions/entity';
import { toAttemptIntent, toPayment } from '../src/transactions/intent';
import { enterSigning } from '../src/transfers/sign/enter-signing';
import { raiseHold } from '../src/transfers/hold';
import { findSigners } from '../src/transfers/sign/signers';
import { insertAttempt } from '../src/transfers/sign/store-attempt';

/** An attempt that the authoriser has not begun. */
export interface Inserted {
  txId: string;
  attempt: number;
  kind: AttemptKind;
  prepared: Prepared;
  /** The reservation that a first attempt takes; later ones use that of the first. */
  ordinal?: bigint;
}

/** Writes all rows of an attempt of a client's payment, as who is logged in as the authoriser can: with bytes that its data give. */
export async function insertAttemptRows(database: DataSource, chain: ChainDefinition, inserted: Inserted): Promise<void> {
  await database.transaction(async (manager) => {
    const { txId, attempt, kind, prepared, ordinal } = inserted;
    const transfer = await manager.findOneByOrFail(TransactionEntity, { txId });
    const { clientId, accountId } = transfer;
    const account = await manager.findOneByOrFail(AccountEntity, { clientId, accountId: accountId ?? '' });
    const owner = account.addressKey;
    if (ordinal !== undefined) {
      await enterSigning(manager, transfer);
      const source = { chain: chain.name, accountId: account.accountId, addressKey: owner };
      await insertReservation(manager, source, txId, { resource: ordinal.toString(), ordinal });
    }
    const family = getFamily(chain.family);
    const intent = toAttemptIntent(toPayment(transfer), kind);
    const unsigned = family.build({ chain, intent, kind, prepared, resources: await resourcesOf(manager, txId) });
    const signers = await findSigners(manager, clientId, chain, family.signingPayloads(unsigned, intent.from));
    await insertAttempt(manager, {
      ...{ txId, attempt, kind, chain: chain.name, prepared, unsigned, signers, owner },
      messageKey: family.messageKey(unsigned, intent.from),
      described: family.describe(unsigned),
    });
  });
}

async function resourcesOf(manager: EntityManager, txId: string): Promise<string[]> {
  const rows = await manager.query<{ resource: string }[]>(
    'select resource from reservations where tx_id = $1 and released_at is null',
    [txId],
  );
  return rows.map(({ resource }) => resource);
}

/** Raises what is locked for the fee of a transfer to this, in atomic units of the native coin. */
export async function raiseFee(database: DataSource, txId: string, fee: bigint, attempt: number): Promise<void> {
  await database.transaction(async (manager) => {
    await raiseHold(manager, await manager.findOneByOrFail(TransactionEntity, { txId }), { fee, attempt, kind: 'first' });
  });
}
