import type { DataSource } from 'typeorm';
import { type NodeIndex, nodeIndexes, quorum } from '../messages/nodes';
import { type OrderClaims, orderLifetimeSeconds } from '../messages/order';
import { openOrder } from '../mpc/open-order';
import type { OrderKeys } from '../mpc/order-keys';
import type { Logger } from '../platform/logging';
import { numberOverlap, overlappedNumber } from './compared-numbers';
import { findKnownOrders } from './known-orders';
import { missingOrders } from './metrics';
import { type AskForOrders, fromEach } from './node-orders';
import { readShownOrders } from './shown-orders';

export interface ComparisonOptions {
  database: DataSource;
  ask: AskForOrders;
  keys: OrderKeys;
  deployment: string;
  logger: Logger;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** A comparison of the same database is repeated after this time: a node that was down before may have more to show. */
const repeatAfterSeconds = 60;
/** So long the first comparison of an incarnation waits for all three nodes: the one that is down may have what the others lack. */
const waitForAllMs = 3 * 60_000;
/**
 * After this time the older orders are read again: one that was issued before a restore, and that no node had acted on when they were
 * first read, has expired then, also by a clock that is a minute late.
 */
const readAgainAfterMs = (orderLifetimeSeconds + 60) * 1000;
/**
 * Questions for the older orders of a node, each answered with up to 100: those of the overlap, and as many that were issued after the
 * backup. A node that lacks nothing of them lacks nothing that a restore has taken.
 */
const maxRounds = 20;

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
  /** The nodes are asked for orders with higher numbers. */
  compared_after: string;
}

/** An order that a node has acted on. */
interface Shown {
  nodes: NodeIndex[];
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
 * An order counts only if a key of the authoriser has signed it: a node that lies closes nothing. Two answers are enough after a time:
 * what was signed was signed by two of the three nodes, so at least one of any two has seen its order.
 */
export class OrderComparison {
  private isAlarmed = false;
  /** `nodes`: those that have shown the older orders too, since this process has first asked about this incarnation. */
  private shown = { incarnation: '', sinceMs: 0, isAgain: false, nodes: new Set<NodeIndex>() };
  private readonly now: () => number;

  constructor(private readonly options: ComparisonOptions) {
    this.now = options.now ?? Date.now;
  }

  /** To be called every few seconds: asks the nodes only when the database is another one, or the last comparison is a minute old. */
  async run(): Promise<Comparison> {
    const row = await this.read();
    if (row.missing_since !== null) return this.alarm(row);
    this.isAlarmed = false;
    missingOrders.set(0);
    if (row.is_compared && !row.is_due) return 'compared';
    const found = await this.askNodes(row);
    if (found === 'too few') return row.is_compared ? 'compared' : 'unknown';
    if (found) {
      await this.close(found, row);
      return this.alarm(await this.read());
    }
    await this.options.database.query(
      `update order_comparison set compared_as = $1, compared_at = clock_timestamp(), compared_after = $2
        where missing_since is null and database_incarnation() = $1`,
      [row.incarnation, row.compared_after],
    );
    return 'compared';
  }

  private async read(): Promise<Row> {
    const [row] = await this.options.database.query<Row[]>(
      `select database_incarnation() as incarnation, missing_since, missing_order, missing_node,
              coalesce(compared_as = database_incarnation(), false) as is_compared,
              coalesce(compared_at < clock_timestamp() - make_interval(secs => $2), true) as is_due,
              coalesce(case when compared_as = database_incarnation() then compared_after end, ${overlappedNumber}) as compared_after
         from order_comparison`,
      [numberOverlap, repeatAfterSeconds],
    );
    if (!row) throw new Error('the comparison of orders has no row');
    return row;
  }

  /** An order that the database lacks; null when it lacks none that is shown. */
  private async askNodes(row: Row): Promise<Missing | null | 'too few'> {
    if (this.shown.incarnation !== row.incarnation)
      this.shown = { incarnation: row.incarnation, sinceMs: this.now(), isAgain: false, nodes: new Set() };
    if (!this.shown.isAgain && this.now() - this.shown.sinceMs >= readAgainAfterMs)
      this.shown = { ...this.shown, isAgain: true, nodes: new Set() };
    const answered = new Set<NodeIndex>();
    const problems: string[] = [];
    const shown: Shown[] = [];
    for (const given of await this.options.ask(fromEach(null))) {
      if ('problem' in given) {
        problems.push(`node ${given.node}: ${given.problem}`);
        continue;
      }
      answered.add(given.node);
      if (given.answer.newest !== null) shown.push({ nodes: [given.node], compact: given.answer.newest });
    }
    // the newest alone does not show that it lacks nothing: the same numbers may be those of other orders
    if ([...answered].some((node) => !this.shown.nodes.has(node))) {
      const older = await readShownOrders(this.options.ask, Number(row.compared_after), maxRounds);
      shown.push(...older.orders);
      problems.push(...older.problems);
      for (const node of answered) if (!older.nodes.includes(node) && !this.shown.nodes.has(node)) answered.delete(node);
    }
    const found = await this.findMissing(shown, answered);
    if (found) return found;
    for (const node of answered) this.shown.nodes.add(node);
    if (answered.size >= this.needed(row)) return null;
    this.options.logger.warn({ reasons: problems }, 'too few nodes have told which orders they have acted on, asking again');
    return 'too few';
  }

  private needed(row: Row): number {
    return !row.is_compared && this.now() - this.shown.sinceMs < waitForAllMs ? nodeIndexes.length : quorum;
  }

  /**
   * The first one that is not stored; from `answered` those are taken that show what proves nothing. Rows are read after the answers:
   * what a node has seen was committed before it was signed.
   */
  private async findMissing(shown: Shown[], answered: Set<NodeIndex>): Promise<Missing | null> {
    const { database, keys, deployment, logger } = this.options;
    const compacts = shown.map(({ compact }) => compact);
    const isKnown = await findKnownOrders(database, compacts);
    for (const { nodes, compact } of shown.filter((it) => !isKnown(it.compact))) {
      const claims = await openOrder(compact, keys, deployment);
      const [node] = nodes;
      if (claims && node) return { node, claims };
      for (const liar of nodes) {
        if (answered.delete(liar))
          logger.error(
            { alert: 'order_not_ours', node: liar },
            'a node shows an order that the database does not have, and that no key in ORDER_KEYS has signed: its answer does not count',
          );
      }
    }
    return null;
  }

  /** Not what was rebuilt since the nodes were asked. */
  private async close({ node, claims }: Missing, { compared_after: after }: Row): Promise<void> {
    await this.options.database.query(
      `update order_comparison
          set missing_since = clock_timestamp(), missing_order = $1, missing_node = $2, missing_after = least($3::bigint, greatest($1::bigint - $4, 0))
        where missing_since is null and not exists (select from orders where jti = $5)`,
      [claims.seq, node, after, numberOverlap, claims.jti],
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
