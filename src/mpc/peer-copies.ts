import Joi from 'joi';
import type { DataSource } from 'typeorm';
import { GatewayError } from '../platform/errors';
import { jsonReader } from '../platform/untrusted';
import type { NodeIndex } from '../messages/nodes';
import { maxPeerBans } from './ban-rows';
import type { Bans } from './bans';
import type { PublicKeys } from './identity';
import { findSigner, fromWire, type SignedStatement, toWire, type WireStatement, wireStatementSchema } from './statement';

/** What a peer may ask for about itself. */
export interface PeerArchive {
  /** A page of the entries and bans of `from` that this node keeps, entries from number `after` on. */
  copiesFor(from: NodeIndex, after: number): Promise<Buffer>;
  /** A ban that `from` has made. */
  onBan(from: NodeIndex, body: Buffer): Promise<void>;
}

export interface CopiesPage {
  entries: SignedStatement[];
  bans: SignedStatement[];
  /** Number to continue after; null at the end. */
  next: number | null;
}

const pageEntries = 50;
/** A page of the largest entries, and all bans. */
export const maxPageBytes = 8 * 1024 * 1024;

const pageSchema = Joi.object<{ entries: WireStatement[]; bans: WireStatement[]; next: number | null }, true>({
  entries: Joi.array().items(wireStatementSchema).max(pageEntries).required(),
  bans: Joi.array().items(wireStatementSchema).max(maxPeerBans).required(),
  next: Joi.number().integer().min(0).allow(null).required(),
}).required();

const readPage = jsonReader(pageSchema, 'copies');
const readStatement = jsonReader(wireStatementSchema, 'copies');

/** Keeps what the peers have signed about their own journals, and gives it back to them. */
export class PeerCopies implements PeerArchive {
  constructor(
    private readonly database: DataSource,
    private readonly bans: Pick<Bans, 'keepCopy'>,
    private readonly getKeys: (party: NodeIndex) => PublicKeys,
  ) {}

  async copiesFor(from: NodeIndex, after: number): Promise<Buffer> {
    const entries = await this.database.query<{ number: string; statement: string; signature: Buffer }[]>(
      'select number, statement, signature from peer_entries where node = $1 and number > $2 order by number limit $3',
      [from, after, pageEntries],
    );
    const isLast = entries.length < pageEntries;
    const bans = isLast
      ? await this.database.query<{ statement: string; signature: Buffer }[]>(
          'select statement, signature from peer_bans where node = $1 order by received_at desc limit $2',
          [from, maxPeerBans],
        )
      : [];
    const wire = (rows: { statement: string; signature: Buffer }[]) =>
      rows.map(({ statement: text, signature }) => toWire({ text, signature }));
    const next = isLast ? null : Number(entries.at(-1)?.number);
    return Buffer.from(JSON.stringify({ entries: wire(entries), bans: wire(bans), next }));
  }

  async onBan(from: NodeIndex, body: Buffer): Promise<void> {
    const statement = decodeStatement(body);
    // a node sends its bans again at each start, also those that are older than a replacement of its key
    if (!findSigner('ban', statement, this.getKeys(from)))
      throw new GatewayError('invalid_parameter', 'the signature of a ban does not verify');
    await this.bans.keepCopy(from, statement);
  }
}

export const encodeStatement = (statement: SignedStatement): Buffer => Buffer.from(JSON.stringify(toWire(statement)));

function decodeStatement(body: Buffer): SignedStatement {
  return fromWire(readStatement(body));
}

/** @throws GatewayError invalid_parameter */
export function decodeCopies(body: Buffer): CopiesPage {
  const { entries, bans, next } = readPage(body);
  return { entries: entries.map(fromWire), bans: bans.map(fromWire), next };
}
