import type { DataSource } from 'typeorm';
import { type NodeIndex, quorum } from '../messages/nodes';
import type { OrderClaims } from '../messages/order';
import type { OrderKeys } from '../mpc/order-keys';
import type { Logger } from '../platform/logging';
import { missingOrders } from './metrics';
import { type AskForOrders, openOrder, readJti } from './node-orders';

export interface ComparisonOptions {
  database: DataSource;
  ask: AskForOrders;
  keys: OrderKeys;
  deployment: string;
  logger: Logger;
}

/** Numbers are taken before commits: a backup may lack orders that are somewhat older than its newest one. */
const overlap = 1_000;
/** A comparison of the same database is repeated after this time: a node that was down before may have more to show. */
const repeatAfterSeconds = 60;

/**
 * `compared`: orders are issued and transfers accepted. `missing`: a node has shown an order that the database does not have.
 * `unknown`: this database was not compared yet, since too few nodes have answered.
 */
export type Comparison = 'compared' | 'missing' | 'unknown';

interface Row {
  incarnation: string;
  missing_since: Date | null;
  missing_order: string | null;
  missing_node: NodeIndex | null;
  is_compared: boolean;
  is_due: boolean;
}

/** The newest order that a node has acted on. */
interface Shown {
  node: NodeIndex;
  compact: string;
}

interface Missing {
  node: NodeIndex;
  claims: OrderClaims;
}

/**
 * Finds out whether the gateway's database lacks orders that signing nodes have acted on, as one restored from an older backup does:
 * what it would order and accept then could pay twice. The result is a row of the database, which the statements that issue an order
 * and accept a transfer read themselves (migrations/0020-order-comparison.ts). It holds for one incarnation of the database: a
 * restored one starts unknown, whatever its row says.
 *
 * A number is believed only with its order, signed by a key of the authoriser: a node that lies closes nothing. Two answers are
 * enough: what was signed was signed by two of the three nodes, so at least one of any two has seen its order.
 */
export class OrderComparison {
  private isAlarmed = false;

  constructor(private readonly options: ComparisonOptions) {}

  /** To be called every few seconds: asks the nodes only when the database is another one, or the last comparison is a minute old. */
  async run(): Promise<Comparison> {
    const row = await this.read();
    if (row.missing_since !== null) return this.alarm(row);
    this.isAlarmed = false;
    missingOrders.set(0);
    if (row.is_compared && !row.is_due) return 'compared';
    const found = await this.askNodes();
    if (found === 'too few') return row.is_compared ? 'compared' : 'unknown';
    if (found) {
      await this.close(found);
      return this.alarm(await this.read());
    }
    await this.options.database.query(
      `update order_comparison set compared_as = $1, compared_at = clock_timestamp()
        where missing_since is null and database_incarnation() = $1`,
      [row.incarnation],
    );
    return 'compared';
  }

  private async read(): Promise<Row> {
    const [row] = await this.options.database.query<Row[]>(
      `select database_incarnation() as incarnation, missing_since, missing_order, missing_node,
              coalesce(compared_as = database_incarnation(), false) as is_compared,
              coalesce(compared_at < clock_timestamp() - make_interval(secs => $1), true) as is_due
         from order_comparison`,
      [repeatAfterSeconds],
    );
    if (!row) throw new Error('the comparison of orders has no row');
    return row;
  }

  /** An order that the database lacks; null when it lacks none that is shown. */
  private async askNodes(): Promise<Missing | null | 'too few'> {
    const shown: Shown[] = [];
    const silent: string[] = [];
    let answered = 0;
    for (const given of await this.options.ask(null)) {
      if ('problem' in given) silent.push(`node ${given.node}: ${given.problem}`);
      else if (given.answer.newest === null) answered += 1;
      else shown.push({ node: given.node, compact: given.answer.newest });
    }
    const known = await this.findKnown(shown);
    for (const it of shown) {
      const claims = known.has(readJti(it.compact)) ? null : await this.verify(it);
      if (claims) return { node: it.node, claims };
      if (claims === null) answered += 1;
    }
    if (answered >= quorum) return null;
    this.options.logger.warn({ reasons: silent }, 'too few nodes have told which orders they have acted on, asking again');
    return 'too few';
  }

  /** Ids of shown orders that are stored. Read after the answers: what a node has seen was committed before it was signed. */
  private async findKnown(shown: Shown[]): Promise<ReadonlySet<string | null>> {
    const rows = await this.options.database.query<{ jti: string }[]>('select jti from orders where jti = any($1::uuid[])', [
      shown.flatMap(({ compact }) => readJti(compact) ?? []),
    ]);
    return new Set(rows.map(({ jti }) => jti));
  }

  /** undefined: it proves nothing, and the node's answer does not count. */
  private async verify({ node, compact }: Shown): Promise<OrderClaims | undefined> {
    const { keys, deployment, logger } = this.options;
    const claims = await openOrder(compact, keys, deployment);
    if (claims) return claims;
    logger.error(
      { alert: 'order_not_ours', node },
      'a node shows an order that the database does not have, and that no key in ORDER_KEYS has signed: its answer does not count',
    );
    return undefined;
  }

  /** Not what was rebuilt since the nodes were asked. */
  private async close({ node, claims }: Missing): Promise<void> {
    await this.options.database.query(
      `update order_comparison
          set missing_since = clock_timestamp(), missing_order = $1, missing_node = $2,
              missing_after = (select greatest(coalesce(max(seq), 0) - $3, 0) from orders where seq < $1)
        where missing_since is null and not exists (select from orders where jti = $4)`,
      [claims.seq, node, overlap, claims.jti],
    );
  }

  private alarm({ missing_since: since, missing_order: order, missing_node: node }: Row): Comparison {
    missingOrders.set(1);
    if (!this.isAlarmed)
      this.options.logger.error(
        { alert: 'orders_missing', node, order: Number(order), since },
        'a node has acted on an order that the database does not have: nothing is ordered or accepted until `gateway reconcile`',
      );
    this.isAlarmed = true;
    return 'missing';
  }
}
