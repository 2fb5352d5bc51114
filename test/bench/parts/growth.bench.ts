import { createFollowFixture, type FollowFixture } from '../../integration/following/fixture';
import { mineFullBlocks } from '../full-blocks';
import { round } from '../load';
import { findPostgres, processorMs } from '../postgres-processor';

/** Processor time that a block takes the follower and its Postgres, while few addresses are watched and while a million are. */
const sizes = [100, 1_000_000];
const blocks = 150;
const perBlock = 20;

let fixture: FollowFixture;
beforeAll(async () => {
  fixture = await createFollowFixture();
}, 60_000);
afterAll(() => fixture.close());

/** Accounts of nobody else's blocks, without triggers. */
async function watch(count: number): Promise<void> {
  await fixture.database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'`);
    await manager.query(
      `insert into accounts (account_id, wallet_id, client_id, family, chain, network, address, address_key, key_id, key_protocol, derivation_path, address_index)
       select md5('a' || n)::uuid, md5('w' || n / 10)::uuid, md5('c' || n / 200)::uuid, 'evm', 'ethereum', 'local', '0x' || md5('a' || n) || lpad(to_hex(n), 8, '0'),
              '0x' || md5('a' || n) || lpad(to_hex(n), 8, '0'), 'k' || n, 'ecdsa-secp256k1', 'm/60/0', n
         from generate_series(1, $1::int) n on conflict do nothing`,
      [count],
    );
  });
  await fixture.database.query('vacuum analyze accounts');
}

test(`following blocks while ${sizes.join(' and ')} addresses are watched`, async () => {
  const postgres = await findPostgres();
  await mineFullBlocks(fixture, { blocks, perBlock });
  await fixture.follow({ sliceMs: 120_000 });
  const costs: { follower: number; postgres: number }[] = [];
  for (const addresses of sizes) {
    await watch(addresses);
    await mineFullBlocks(fixture, { blocks, perBlock });
    const [own, ofPostgres] = [process.cpuUsage(), processorMs(postgres)];
    await fixture.follow({ sliceMs: 120_000 });
    const { user, system } = process.cpuUsage(own);
    const cost = {
      follower: round((user + system) / 1_000 / blocks),
      postgres: round((processorMs(postgres) - ofPostgres) / blocks),
    };
    costs.push(cost);
    const all = (of: typeof cost) => of.follower + of.postgres;
    process.stdout.write(
      `${JSON.stringify({
        ...{ bench: 'growth of watched addresses', addresses, blocks, transactions_a_block: perBlock, cpu_ms_a_block: cost },
        to_first: Math.round((all(cost) / all(costs[0] ?? cost)) * 100) / 100,
      })}\n`,
    );
  }
}, 600_000);
