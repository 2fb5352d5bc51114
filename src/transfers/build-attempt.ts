import type { EntityManager } from 'typeorm';
import type { AttemptKind, Hex, Prepared } from '../chains/types';
import type { Signer } from '../messages/signing';
import type { TransactionEntity } from '../transactions/entity';
import { toIntent } from '../transactions/intent';
import type { TransferDependencies } from './dependencies';
import { NotBegun } from './not-begun';
import { findSigners, getAccount } from './signing-request';
import { insertAttempt } from './store-attempt';

export interface BuiltAttempt {
  attempt: number;
  kind: AttemptKind;
  unsigned: Hex;
  signers: Signer[];
  store(): Promise<void>;
}

/**
 * Reserves what the attempt uses up and builds its bytes; `store` writes them. For a transfer whose signing has begun.
 * @throws NotBegun when the family cannot reserve now; Error when the bytes use up anything that was not reserved.
 */
export async function buildAttempt(
  manager: EntityManager,
  { registry, getFamily }: TransferDependencies,
  transfer: TransactionEntity,
  next: { attempt: number; kind: AttemptKind; prepared: Prepared },
): Promise<BuiltAttempt> {
  const { attempt, kind, prepared } = next;
  const { txId, fromAddress } = transfer;
  const chain = registry.get(transfer.chain);
  const family = getFamily(chain.family);
  const { accountId, addressKey } = await getAccount(manager, transfer);
  const reserved = await family.reserve(manager, { chain: chain.name, accountId, addressKey }, prepared, txId, kind);
  if (reserved.outcome !== 'reserved') throw new NotBegun(reserved);
  const { resources } = reserved;
  const unsigned = family.build({ chain, intent: toIntent(transfer, kind), kind, prepared, resources });
  assertSameResources(txId, family.describe(unsigned).resources, resources);
  const signers = await findSigners(manager, transfer, chain, family.signingPayloads(unsigned, fromAddress));
  const messageKey = family.messageKey(unsigned, fromAddress);
  const row = { txId, attempt, kind, chain: chain.name, prepared, unsigned, signers, messageKey, resources };
  return { attempt, kind, unsigned, signers, store: () => insertAttempt(manager, row) };
}

function assertSameResources(txId: string, used: string[], reserved: string[]): void {
  if (used.length !== reserved.length || used.some((resource) => !reserved.includes(resource)))
    throw new Error(`the bytes for ${txId} use up ${used.join(', ')}, but ${reserved.join(', ')} is reserved`);
}
