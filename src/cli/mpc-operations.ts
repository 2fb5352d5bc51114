import { decodeJwt } from 'jose';
import type { DataSource, EntityManager } from 'typeorm';
import type { SigningClaims } from '../messages/order';
import { inTransaction } from '../platform/database';
import { GatewayError } from '../platform/errors';
import { isUuid } from '../platform/ids';
import type { ListedLimit } from '../mpc/limits';
import { withReason } from './confirmation';
import type { Row } from './output';

interface Frozen {
  keyId: string;
  peer: number;
  /** `jti` of an order that the node keeps. */
  orderId: string;
  /** Of the operator. */
  reason?: string | undefined;
}

/** What the operator of a signing node sees and does; every act is a row of its own, with the operator's name. */
export class MpcOperations {
  constructor(private readonly database: DataSource) {}

  async status(): Promise<Row> {
    const [row] = await this.database.query<Row[]>(
      `select (select node_index from node_identity) as node,
              (select count(*) from key_shares) as keys,
              (select count(*) from journal) as entries,
              (select count(*) from journal where outcome is null) as entries_open,
              (select count(*) from journal where outcome = 'failed') as sessions_failed,
              (select max(admitted_at) from journal) as newest_entry,
              (select count(*) from bans) as bans,
              (select count(*) from refusals where refused_at > clock_timestamp() - interval '24 hours') as refusals_of_24_hours,
              (select count(*) from refused_requests where refused_at > clock_timestamp() - interval '24 hours') as refused_requests_of_24_hours,
              (select max(acted_at) from operator_acts) as newest_operator_act`,
    );
    return row ?? {};
  }

  bans(): Promise<Row[]> {
    return this.database.query<Row[]>(
      `select (select node_index from node_identity) as by_node, key_id, peer as banned, statement::jsonb ->> 'reason' as reason, banned_at from bans
       union all select node, key_id, peer, statement::jsonb ->> 'reason', received_at from peer_bans order by banned_at`,
    );
  }

  /** What the node has refused, newest first. */
  refused(limit: number): Promise<Row[]> {
    return this.database.query<Row[]>(
      `select refused_at, role as asked_by, peer, act, code, reason, named ->> 'jti' as jti, named ->> 'tx_id' as tx_id,
              named ->> 'key_id' as key_id from refused_requests order by number desc limit $1`,
      [limit],
    );
  }

  /** The limits with the amounts that count for them now, atomic units. */
  async withAmounts(limits: ListedLimit[]): Promise<Row[]> {
    const amounts = await this.database.query<{ chain: string; token: string; amount: string }[]>(
      `select chain, token, sum(amount) as amount from admitted_amounts
        where key_id = '' and hour >= date_trunc('hour', clock_timestamp() - interval '24 hours') group by chain, token`,
    );
    const getSum = (chain: string, token: string) =>
      amounts.find((row) => row.chain === chain && row.token === token)?.amount ?? '0';
    const unlimited = amounts.filter((row) => !limits.some(({ chain, token }) => row.chain === chain && row.token === token));
    return [
      ...limits.map((limit) => ({ ...limit, amount_of_24_hours: getSum(limit.chain, limit.token) })),
      ...unlimited.map(({ chain, token, amount }) => ({
        chain,
        token,
        max_amount: null,
        max_per_key_and_day: null,
        max_per_day: null,
        amount_of_24_hours: amount,
      })),
    ].map((row) => ({ ...row, token: row.token || 'native' }));
  }

  /**
   * Admits what an order says once in spite of a ban, also under a later order over the same bytes. Returns the order.
   * @throws GatewayError not_found when there is no such ban, or the node keeps no such order by the key.
   */
  unfreeze({ keyId, peer, orderId, reason }: Frozen, operator: string): Promise<SigningClaims> {
    return inTransaction(this.database, async (manager) => {
      const banned = await manager.query<unknown[]>('select from bans where key_id = $1 and peer = $2', [keyId, peer]);
      if (banned.length === 0) throw new GatewayError('not_found', `this node has no ban of node ${peer} for key ${keyId}`);
      const claims = await findSeenOrder(manager, orderId);
      if (!claims?.signers.some((signer) => signer.key_id === keyId))
        throw new GatewayError('not_found', `this node was not asked to sign order ${orderId} by key ${keyId}`);
      const { tx_id: txId, attempt, signers } = claims;
      const digests = signers.flatMap((signer) => signer.digests);
      const detail = { key_id: keyId, peer, order: orderId, tx_id: txId, attempt, digests, ...withReason(reason) };
      const act = await recordAct(manager, operator, 'unfreeze', detail);
      await manager.query(
        `insert into unfreezes (key_id, peer, tx_id, attempt, digests, act_id) values ($1, $2, $3, $4, $5, $6)
         on conflict (key_id, peer, tx_id, attempt) do update set used = '{}', digests = excluded.digests, act_id = excluded.act_id`,
        [keyId, peer, txId, attempt, digests, act],
      );
      return claims;
    });
  }

  acceptJournal(operator: string, reason?: string): Promise<void> {
    return inTransaction(this.database, async (manager) => {
      await recordAct(manager, operator, 'journal_accept', withReason(reason));
    });
  }
}

/** An order to sign a transaction; the node has verified it before it kept it. */
async function findSeenOrder(manager: EntityManager, orderId: string): Promise<SigningClaims | undefined> {
  if (!isUuid(orderId)) return undefined;
  const [row] = await manager.query<{ compact: string }[]>(
    'select compact from seen_orders where jti = $1 and unsigned is not null',
    [orderId],
  );
  return row && decodeJwt<SigningClaims>(row.compact);
}

/** A row for what an operator has done; returns its id. */
export async function recordAct(manager: EntityManager, operator: string, act: string, detail: object): Promise<string> {
  const [row] = await manager.query<{ act_id: string }[]>(
    'insert into operator_acts (operator, act, detail) values ($1, $2, $3) returning act_id',
    [operator, act, JSON.stringify(detail)],
  );
  if (!row) throw new Error('the act was not recorded');
  return row.act_id;
}
