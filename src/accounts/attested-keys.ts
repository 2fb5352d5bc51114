import { type EntityManager, In } from 'typeorm';
import type { KeyAttestation } from '../messages/key-generation';
import type { NodeKeys } from '../mpc/identity';
import type { AttestedFields } from '../mpc/key-attestation';
import { Alarms } from '../platform/alarms';
import { fromHex } from '../platform/hex';
import type { Logger } from '../platform/logging';
import { saidByAll } from '../wallets/attestations';
import type { AttestedKey } from '../wallets/attested-keys';
import { unattestedKeys } from '../wallets/metrics';
import { VerifiedStatements } from '../wallets/verified-statements';
import { AccountAttestationEntity } from './attestation-entity';
import type { AccountEntity } from './entity';

/** Whose key it is. */
export type KeyedAccount = Pick<AccountEntity, 'accountId' | 'walletId' | 'clientId'>;

/** Which key is an account's own, by the signatures of the nodes and not by the word of the database. */
export class AttestedAccountKeys {
  private readonly verified: VerifiedStatements;
  private readonly alarms: Alarms;

  constructor(
    private readonly nodeKeys: NodeKeys,
    log: Pick<Logger, 'error'>,
  ) {
    this.verified = new VerifiedStatements((manager, ids) => readVerified(manager, ids, nodeKeys));
    this.alarms = new Alarms(log);
  }

  /** By account id. An account whose key the nodes do not attest is missing, and raises an alarm. */
  async find(manager: EntityManager, accounts: KeyedAccount[]): Promise<Map<string, AttestedKey>> {
    const known = await this.verified.find(
      manager,
      accounts.map(({ accountId }) => accountId),
    );
    const keys = new Map<string, AttestedKey>();
    for (const account of accounts) {
      const key = toKey(known.get(account.accountId), account);
      if (key) keys.set(account.accountId, key);
      else this.alarm(account);
    }
    return keys;
  }

  /** The key of an account that is not stored yet; null, with an alarm, where this is not what all nodes say. */
  verify(account: KeyedAccount, attestations: KeyAttestation[]): AttestedKey | null {
    const statements = attestations.map(({ text: statement, signature }) => ({ statement, signature }));
    const key = toKey(saidByAll(statements, this.nodeKeys) ?? undefined, account);
    if (!key) this.alarm(account);
    return key;
  }

  private alarm({ accountId, walletId }: KeyedAccount): void {
    unattestedKeys.inc();
    const subject = { account_id: accountId, wallet_id: walletId };
    this.alarms.raise(accountId, { alert: 'key_not_attested', ...subject }, 'not every node attests the key of the account');
  }
}

async function readVerified(manager: EntityManager, ids: string[], nodeKeys: NodeKeys): Promise<Map<string, AttestedFields>> {
  const rows = await manager.findBy(AccountAttestationEntity, { accountId: In(ids) });
  const found = new Map<string, AttestedFields>();
  for (const id of ids) {
    const ofAccount = rows.filter(({ accountId }) => accountId === id);
    const fields = saidByAll(ofAccount, nodeKeys);
    if (fields?.account_id === id) found.set(id, fields);
  }
  return found;
}

/** null for the key of anybody else. */
function toKey(fields: AttestedFields | undefined, { accountId, walletId, clientId }: KeyedAccount): AttestedKey | null {
  if (fields?.account_id !== accountId || fields.wallet_id !== walletId || fields.client_id !== clientId) return null;
  const { key_id: keyId, protocol } = fields;
  return { keyId, clientId, protocol, publicKey: fromHex(fields.public_key), chainCode: fromHex(fields.chain_code) };
}
