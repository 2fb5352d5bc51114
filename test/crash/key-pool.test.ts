import { Client } from 'pg';
import { nodeIndexes, type NodeIndex } from '../../src/messages/nodes';
import { nodeEnvironment, nodeQuery } from '../adversary/nodes';
import { gatewayQuery } from '../adversary/processes';
import { allSettlers } from '../e2e/payers';
import { call } from '../e2e/support';
import { stack, waitFor } from '../stack/client';
import { allRun, kill, type Victim } from './victims';

/** A part is killed between taking a key of the pool and its binding by every node: the wallet gets just this key. */

jest.setTimeout(600_000);

// the house takes a key too when the stack has started
beforeAll(() => allSettlers(), 960_000);

/** Held at the COMMIT of what takes the key, or where a node binds it; those of lower numbers have bound it then. */
type Gap = 'taken' | NodeIndex;

const keyOf = async (walletId: string) =>
  (await gatewayQuery<{ key_id: string }>('select key_id from pooled_keys where wallet_id = $1', [walletId]))[0]?.key_id;

/** What a node has bound the key to. */
const boundAt = async (node: NodeIndex, keyId: string) =>
  (await nodeQuery<{ wallet_id: string | null }>(node, 'select wallet_id from key_shares where key_id = $1', [keyId]))[0]
    ?.wallet_id;

async function connect(gap: Gap): Promise<Client> {
  const url = gap === 'taken' ? stack().postgres.url : nodeEnvironment(gap).MPC_NODE_DATABASE_URL;
  const database = new Client({ connectionString: url });
  await database.connect();
  return database;
}

/** The statement waits for a lock that the test owns. */
async function hold(gap: Gap) {
  const database = await connect(gap);
  const trigger =
    gap === 'taken'
      ? 'constraint trigger a_hold after update on pooled_keys deferrable initially deferred for each row'
      : 'trigger a_hold before update on key_shares for each row when (old.wallet_id is null and new.wallet_id is not null)';
  await database.query(`
    create schema holds;
    create function holds.wait() returns trigger language plpgsql security definer as $$
    begin
      perform pg_advisory_xact_lock_shared(hashtext('hold'));
      return new;
    end $$;
    grant usage on schema holds to public;
    create ${trigger} execute function holds.wait();`);
  await database.query(`select pg_advisory_lock(hashtext('hold'))`);
  const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted and objid = hashtext('hold')::bit(32)::bigint::oid
     and database = (select oid from pg_database where datname = current_database())`;
  return {
    reached: () => waitFor(async () => (await database.query(waiting)).rows.length > 0, { timeoutMs: 60_000, intervalMs: 20 }),
    release: async () => {
      await database.query('select pg_advisory_unlock_all()');
      await database.query('drop schema holds cascade');
      await database.end();
    },
  };
}

test.each([
  ['taken', 'authoriser'],
  [1, 'worker'],
  [2, 'mpc'],
  [3, 'all'],
] as [Gap, Victim][])('held at %s, with %s killed', async (gap, victim) => {
  // after a generation that a kill has broken off the pool rests for five minutes
  await waitFor(async () => (await gatewayQuery('select 1 from free_pooled_keys')).length > 0, { timeoutMs: 360_000 });
  const held = await hold(gap);
  const { body } = await call('POST', '/wallets', { body: { wallet_name: `killed ${victim}` } });
  const walletId = body.wallet_id as string;
  await held.reached();
  const taken = await keyOf(walletId);
  const binding = gap === 'taken' ? 1 : gap;
  if (gap === 'taken') expect(taken).toBeUndefined();
  else for (const node of nodeIndexes) expect(await boundAt(node, taken ?? '')).toBe(node < binding ? walletId : null);
  kill(victim, binding);
  await held.release();
  await allRun();
  const wallet = await waitFor(
    async () =>
      (
        await gatewayQuery<{ key_id: string }>(`select key_id from wallets where wallet_id = $1 and key_status = 'ACTIVE'`, [
          walletId,
        ])
      )[0],
    { timeoutMs: 120_000 },
  );
  const keyId = (await keyOf(walletId)) ?? '';
  expect(wallet.key_id).toBe(keyId);
  expect(keyId).toBe(taken ?? keyId);
  for (const node of nodeIndexes) expect(await boundAt(node, keyId)).toBe(walletId);
  const owners = await gatewayQuery<{ owner: string }>(
    `select distinct claims ->> 'wallet_id' as owner from orders where kind = 'bind_key' and claims ->> 'key_id' = $1`,
    [keyId],
  );
  expect(owners).toEqual([{ owner: walletId }]);
  expect((await call('GET', `/wallets/${walletId}`)).body).toMatchObject({ status: 'ACTIVE', key_status: 'ACTIVE' });
});
