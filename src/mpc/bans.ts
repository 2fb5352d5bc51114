import type { KeyObject } from 'node:crypto';
import Joi from 'joi';
import type { DataSource } from 'typeorm';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { findFault } from '../platform/untrusted';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import { maxFailedSessions } from './journal';
import type { JournalMark } from './journal-mark';
import { misbehaviour, banGauge } from './metrics';
import { parseStatement, signStatement, type SignedStatement } from './statement';

/** Fields of a ban's statement. */
export interface BanFields {
  node: NodeIndex;
  key_id: string;
  peer: NodeIndex;
  reason: string;
  /** ISO 8601. */
  banned_at: string;
}

const node = Joi.number()
  .valid(...nodeIndexes)
  .required();
const schema = Joi.object<BanFields, true>({
  node,
  key_id: Joi.string().max(100).required(),
  peer: node,
  reason: Joi.string().max(200).required(),
  banned_at: Joi.string().isoDate().required(),
});

/** Between two tries to store a ban that neither database nor mark has taken. */
const retryMs = 1_000;

/** Bans of one peer that are kept for it; more than a peer with honest reasons makes. */
export const maxPeerBans = 5_000;

/** @throws GatewayError invalid_parameter when the text is not that of a ban. */
export function readBan(statement: Pick<SignedStatement, 'text'>): BanFields {
  const fields = parseStatement(statement);
  if (findFault(schema, fields) !== null) throw new GatewayError('invalid_parameter', 'malformed ban');
  return fields as BanFields;
}

export const reasonOfFailures = (failed: number): string =>
  `${failed} sessions have ended without a signature after messages of this peer`;

export interface BansOptions {
  database: DataSource;
  self: NodeIndex;
  signingKey: KeyObject;
  mark: JournalMark;
  logger: Logger;
}

interface BanRow {
  key_id: string;
  peer: NodeIndex;
  statement: string;
  statement_signature: Buffer;
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
    const rows = await this.options.database.query<BanRow[]>('select key_id, peer, statement, statement_signature from bans');
    for (const { key_id: keyId, peer, statement: text, statement_signature: signature } of rows)
      this.banned.set(label(keyId, peer), { text, signature });
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
    const { logger } = this.options;
    logger.fatal({ alert: 'peer_banned', peer, key_id: keyId, reason }, 'a peer is banned for this key: investigate it');
    misbehaviour.inc({ peer: String(peer) });
    if (this.banned.has(subject)) return this.storing.get(subject) ?? Promise.resolve();
    const statement = this.toStatement(keyId, peer, reason);
    this.banned.set(subject, statement);
    const storing = this.enforce(keyId, peer, statement).finally(() => this.storing.delete(subject));
    this.storing.set(subject, storing);
    return storing;
  }

  /** Makes the bans that are due by the journal but were never stored: a process ended between the last failed session and its ban. */
  async banOverdue(): Promise<void> {
    const rows = await this.options.database.query<{ key_id: string; peer: NodeIndex; failed: string }[]>(
      `select key_id, peer, count(*) as failed from journal j
        where outcome = 'failed' and not exists (select from bans b where b.key_id = j.key_id and b.peer = j.peer)
        group by key_id, peer having count(*) >= $1`,
      [maxFailedSessions],
    );
    for (const { key_id: keyId, peer, failed } of rows) await this.ban(keyId, peer, reasonOfFailures(Number(failed)));
  }

  /** Puts back bans of this node's own that peers have kept. */
  async restore(statements: SignedStatement[]): Promise<void> {
    await this.store(statements);
    await this.load();
  }

  /** A ban that a peer has made and signed; the caller has verified the signature. */
  async keepCopy(from: NodeIndex, statement: SignedStatement): Promise<void> {
    const { node: author, key_id: keyId, peer } = readBan(statement);
    if (author !== from) throw new GatewayError('invalid_parameter', 'a node tells its own bans only');
    const stored = await this.options.database.query<unknown[]>(
      `insert into peer_bans (node, key_id, peer, statement, signature)
       select $1::smallint, $2, $3::smallint, $4, $5::bytea where (select count(*) from peer_bans where node = $1) < $6 on conflict do nothing returning node`,
      [from, keyId, peer, statement.text, statement.signature, maxPeerBans],
    );
    if (stored.length > 0) await this.measure();
  }

  /** Stores every ban that this process knows, in a database that may have been replaced by an older one. */
  storeAgain(): Promise<void> {
    return this.store([...this.banned.values()]);
  }

  private toStatement(keyId: string, peer: NodeIndex, reason: string): SignedStatement {
    const { self, signingKey } = this.options;
    const fields: BanFields = {
      node: self,
      key_id: keyId,
      peer,
      reason: reason.slice(0, 200),
      banned_at: new Date().toISOString(),
    };
    return signStatement('ban', fields, signingKey);
  }

  private async enforce(keyId: string, peer: NodeIndex, statement: SignedStatement): Promise<void> {
    const { logger, mark } = this.options;
    // ends with the first write that succeeds: until then the peer gets no answer, and by the mark no session begins
    for (let isStored = false; !isStored;) {
      const writes = await Promise.allSettled([this.store([statement]), mark.raiseBans(this.size)]);
      for (const write of writes)
        if (write.status === 'rejected')
          logger.fatal({ err: write.reason as unknown, key_id: keyId, peer }, 'a ban was not stored');
      isStored = writes.some(({ status }) => status === 'fulfilled');
      if (!isStored) await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
    }
    for (const listener of this.listeners) listener(keyId, peer, statement);
    await this.measure().catch((error: unknown) => logger.error({ err: error }, 'bans were not counted'));
  }

  /** In one order, so that the same ban from both peers at once is no deadlock. */
  private async store(statements: SignedStatement[]): Promise<void> {
    await this.options.database.query(
      `insert into bans (key_id, peer, statement, statement_signature)
       select text::jsonb ->> 'key_id', (text::jsonb ->> 'peer')::smallint, text, signature
         from unnest($1::text[], $2::bytea[]) as given (text, signature) order by 1, 2 on conflict do nothing`,
      [statements.map(({ text }) => text), statements.map(({ signature }) => signature)],
    );
  }

  /**
   * How many nodes have banned each node, for whatever keys: two are a reason to look at that node before anything else. One alone may
   * ban by every key, also without a reason.
   */
  private async measure(): Promise<void> {
    const rows = await this.options.database.query<{ peer: number; authors: string }[]>(
      `select peer, count(distinct author) as authors
         from (select $1::smallint as author, peer from bans union all select node, peer from peer_bans) b
        where author <> peer group by peer`,
      [this.options.self],
    );
    for (const { peer, authors } of rows) {
      banGauge.set({ peer: String(peer) }, Number(authors));
      if (Number(authors) >= 2)
        this.options.logger.error(
          { alert: 'node_banned_repeatedly', node: peer, by: Number(authors) },
          'several nodes have banned one node: take it out of service and investigate',
        );
    }
  }
}

const label = (keyId: string, peer: NodeIndex): string => `${keyId}/${peer}`;
