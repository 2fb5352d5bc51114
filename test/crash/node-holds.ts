import { Client } from 'pg';
import { nodeIndexes, type NodeIndex } from '../../src/messages/nodes';
import { nodeEnvironment } from '../adversary/nodes';
import { betweenTriesMs } from './holds';

/** Breakpoints in the databases of the signing nodes: the journal entry of a transfer waits, without which no session begins. */
export class NodeHolds {
  private seen: { node: NodeIndex; at: number } | undefined;

  private constructor(private readonly connections: Map<NodeIndex, Client>) {}

  static async install(): Promise<NodeHolds> {
    const connections = new Map<NodeIndex, Client>();
    for (const node of nodeIndexes) {
      const connection = new Client({ connectionString: nodeEnvironment(node).MPC_NODE_DATABASE_URL });
      await connection.connect();
      await connection.query(`
        create schema holds;
        create function holds.journal() returns trigger language plpgsql as $$
        begin
          perform pg_advisory_xact_lock_shared(hashtext('hold'), hashtext(new.tx_id));
          return new;
        end $$;
        create trigger a_hold before insert on journal for each row execute function holds.journal();`);
      connections.set(node, connection);
    }
    return new NodeHolds(connections);
  }

  async hold(txId: string): Promise<void> {
    await this.onAll(`select pg_advisory_lock(hashtext('hold'), hashtext($1))`, [txId]);
  }

  async releaseAll(): Promise<void> {
    this.seen = undefined;
    await this.onAll('select pg_advisory_unlock_all()');
  }

  /** A node that waits, or is between two tries; undefined as long as none does. */
  async waiting(): Promise<NodeIndex | undefined> {
    for (const [node, connection] of this.connections) {
      const { rows } = await connection.query(
        `select from pg_locks where locktype = 'advisory' and not granted and classid = hashtext('hold')::bit(32)::bigint::oid
           and database = (select oid from pg_database where datname = current_database())`,
      );
      if (rows.length > 0) this.seen = { node, at: Date.now() };
    }
    return this.seen && Date.now() - this.seen.at < betweenTriesMs ? this.seen.node : undefined;
  }

  async remove(): Promise<void> {
    await this.releaseAll();
    await this.onAll('drop schema holds cascade');
    await Promise.all([...this.connections.values()].map((connection) => connection.end()));
  }

  private async onAll(statement: string, values: unknown[] = []): Promise<void> {
    await Promise.all([...this.connections.values()].map((connection) => connection.query(statement, values)));
  }
}
