import type { EntityManager } from 'typeorm';
import type { KeyProtocol } from '../chains/types';
import type { AttestedFields } from '../mpc/key-attestation';
import type { NodeKeys } from '../mpc/identity';
import { Alarms } from '../platform/alarms';
import { toHex } from '../platform/hex';
import type { Logger } from '../platform/logging';
import { attestedByAll, loadAttestations } from './attestations';
import type { WalletEntity } from './entity';
import { unattestedKeys } from './metrics';
import { VerifiedStatements } from './verified-statements';

/** A key that all three nodes have attested to be the wallet's, or one account's. */
export interface AttestedKey {
  keyId: string;
  clientId: string;
  protocol: KeyProtocol;
  /** 33 bytes, compressed; of Ed25519 32 bytes. */
  publicKey: Buffer;
  /** 32 bytes; none where keys have no children. */
  chainCode: Buffer;
}

/** A wallet's row, as far as it says whose key it has. */
export type KeyedWallet = Pick<WalletEntity, 'walletId' | 'clientId' | 'keyId' | 'publicKey' | 'chainCode'>;

/**
 * Which key is a wallet's, by the signatures of the nodes and not by the word of the database. What is verified once stays in memory;
 * the wallet's row is compared with it each time.
 */
export class AttestedKeys {
  private readonly verified: VerifiedStatements;
  private readonly alarms: Alarms;

  constructor(
    readonly nodeKeys: NodeKeys,
    log: Pick<Logger, 'error'>,
  ) {
    this.verified = new VerifiedStatements((manager, ids) => readVerified(manager, ids, nodeKeys));
    this.alarms = new Alarms(log);
  }

  /** By wallet id. A wallet without a key, or with one that the nodes do not attest, is missing; the latter raises an alarm. */
  async find(manager: EntityManager, wallets: KeyedWallet[]): Promise<Map<string, AttestedKey>> {
    const keyed = wallets.filter(({ keyId }) => keyId !== null);
    const known = await this.verified.find(
      manager,
      keyed.map(({ walletId }) => walletId),
    );
    const keys = new Map<string, AttestedKey>();
    for (const wallet of keyed) {
      const attested = known.get(wallet.walletId);
      const key = attested && ownKey(wallet, attested);
      if (key) keys.set(wallet.walletId, key);
      else this.alarm(wallet, attested ? 'the nodes attest another key for this wallet' : 'not every node attests its key');
    }
    return keys;
  }

  private alarm({ walletId, keyId }: KeyedWallet, reason: string): void {
    unattestedKeys.inc();
    this.alarms.raise(walletId, { alert: 'key_not_attested', wallet_id: walletId, key_id: keyId }, reason);
  }
}

async function readVerified(manager: EntityManager, walletIds: string[], nodeKeys: NodeKeys) {
  const rows = await loadAttestations(manager, walletIds);
  const found = walletIds.map((id) => [id, attestedByAll(id, rows, nodeKeys)] as const);
  return new Map(found.filter((it): it is readonly [string, AttestedFields] => it[1] !== null));
}

/** null when the row says anything else than the nodes. */
function ownKey({ clientId, keyId, publicKey, chainCode }: KeyedWallet, attested: AttestedFields): AttestedKey | null {
  if (!publicKey || !chainCode) return null;
  const isOwn =
    attested.client_id === clientId &&
    attested.key_id === keyId &&
    attested.public_key === toHex(publicKey) &&
    attested.chain_code === toHex(chainCode);
  return isOwn ? { keyId, clientId, protocol: attested.protocol, publicKey, chainCode } : null;
}
