import type { KeyObject } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import type { NodeIndex } from '../messages/nodes';
import { readBan, reasonOfFailures, signBan } from './ban';
import { countAuthors, findOverdue, loadBans, storeBans, storePeerBan } from './ban-rows';
import type { JournalMark } from './journal-mark';
import { misbehaviour, banGauge } from './metrics';
import type { SignedStatement } from './statement';

/** Between two tries to store a ban that neither database nor mark has taken. */
const retryMs = 1_000;

export interface BansOptions {
  database: DataSource;
  self: NodeIndex;
  signingKey: KeyObject;
  mark: JournalMark;
  logger: Logger;
}

/**
 * Peers that this node never signs with again by a key, because they failed a check that protects its share. Kept in the database,
 * and in memory for the moment between a failure and its row.
 */
export class Bans {
  private readonly banned = new Map<string, SignedStatement>();
  /** Bans that are being stored. */
  private readonly storing = new Map<string, Promise<void>>();
  private readonly listeners: ((keyId: string, peer: NodeIndex, statement: SignedStatement) => void)[] = [];

  constructor(private readonly options: BansOptions) {}

  /** Number of this node's own bans. */
  get size(): number {
    return this.banned.size;
  }

  async load(): Promise<SignedStatement[]> {
    for (const { keyId, peer, statement } of await loadBans(this.options.database))
      this.banned.set(label(keyId, peer), statement);
    await this.measure();
    return [...this.banned.values()];
  }

  /** @throws GatewayError key_peer_banned, once the ban is durable. */
  async assertNotBanned(keyId: string, peer: NodeIndex): Promise<void> {
    if (!this.banned.has(label(keyId, peer))) return;
    await this.storing.get(label(keyId, peer));
    throw new GatewayError('key_peer_banned', `node ${this.options.self} does not sign with node ${peer} by this key any more`);
  }

  /** Told after a ban is durable, in the order of registration. */
  onBan(listener: (keyId: string, peer: NodeIndex, statement: SignedStatement) => void): void {
    this.listeners.push(listener);
  }

  /**
   * Durable when it resolves: in the database, or, while that does not answer, by the mark outside of it, without which the node
   * does not sign after its next start. Further calls wait for the first one. Never rejects.
   */
  ban(keyId: string, peer: NodeIndex, reason: string): Promise<void> {
    const subject = label(keyId, peer);
    const { logger, self, signingKey } = this.options;
    logger.fatal({ alert: 'peer_banned', peer, key_id: keyId, reason }, 'a peer is banned for this key: investigate it');
    misbehaviour.inc({ peer: String(peer) });
    if (this.banned.has(subject)) return this.storing.get(subject) ?? Promise.resolve();
    const statement = signBan({ node: self, keyId, peer, reason }, signingKey);
    this.banned.set(subject, statement);
    const storing = this.enforce(keyId, peer, statement).finally(() => this.storing.delete(subject));
    this.storing.set(subject, storing);
    return storing;
  }

  /** Makes the bans that are due by the journal but were never stored: a process ended between the last failed session and its ban. */
  async banOverdue(): Promise<void> {
    for (const { keyId, peer, failed } of await findOverdue(this.options.database))
      await this.ban(keyId, peer, reasonOfFailures(failed));
  }

  /** Puts back bans of this node's own that peers have kept. */
  async restore(statements: SignedStatement[]): Promise<void> {
    await storeBans(this.options.database, statements);
    await this.load();
  }

  /** A ban that a peer has made and signed; the caller has verified the signature. */
  async keepCopy(from: NodeIndex, statement: SignedStatement): Promise<void> {
    const { node: author, key_id: keyId, peer } = readBan(statement);
    if (author !== from) throw new GatewayError('invalid_parameter', 'a node tells its own bans only');
    if (await storePeerBan(this.options.database, from, { keyId, peer, statement })) await this.measure();
  }

  /** Stores every ban that this process knows, in a database that may have been replaced by an older one. */
  storeAgain(): Promise<void> {
    return storeBans(this.options.database, [...this.banned.values()]);
  }

  private async enforce(keyId: string, peer: NodeIndex, statement: SignedStatement): Promise<void> {
    const { database, logger, mark } = this.options;
    // ends with the first write that succeeds: until then the peer gets no answer, and by the mark no session begins
    for (let isStored = false; !isStored;) {
      const writes = await Promise.allSettled([storeBans(database, [statement]), mark.raiseBans(this.size)]);
      for (const write of writes)
        if (write.status === 'rejected')
          logger.fatal({ err: write.reason as unknown, key_id: keyId, peer }, 'a ban was not stored');
      isStored = writes.some(({ status }) => status === 'fulfilled');
      if (!isStored) await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
    }
    for (const listener of this.listeners) listener(keyId, peer, statement);
    await this.measure().catch((error: unknown) => logger.error({ err: error }, 'bans were not counted'));
  }

  /** Two nodes that have banned one are a reason to look at that one first. One alone may ban by every key, also without a reason. */
  private async measure(): Promise<void> {
    const { database, logger, self } = this.options;
    for (const { peer, authors } of await countAuthors(database, self)) {
      banGauge.set({ peer: String(peer) }, authors);
      if (authors >= 2)
        logger.error(
          { alert: 'node_banned_repeatedly', node: peer, by: authors },
          'several nodes have banned one node: take it out of service and investigate',
        );
    }
  }
}

const label = (keyId: string, peer: NodeIndex): string => `${keyId}/${peer}`;
