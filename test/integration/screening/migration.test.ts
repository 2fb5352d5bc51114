import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { Schema0001 } from '../../../src/platform/migrations/0001-schema';
import { Security0002 } from '../../../src/platform/migrations/0002-security';
import { newId } from '../../../src/platform/ids';
import { randomAddress } from '../../factories';

const server = String(process.env.TEST_POSTGRES_URL);
const name = `test_${randomBytes(6).toString('hex')}`;

async function asSuperuser(sql: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  await client.query(sql);
  await client.end();
}
beforeAll(() => asSuperuser(`create database ${name}`));
afterAll(() => asSuperuser(`drop database ${name} with (force)`));

const migrate = async (...migrations: (new () => object)[]): Promise<DataSource> => {
  const url = new URL(server);
  url.pathname = `/${name}`;
  const database = await new DataSource({ type: 'postgres', url: url.toString(), migrations }).initialize();
  await database.runMigrations({ transaction: 'each' });
  return database;
};

test('transfers made before there was a blacklist are compared with it too, and are not touched otherwise', async () => {
  const [txId, to] = [newId(), randomAddress()];
  const before = await migrate(Schema0001);
  await before.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'`);
    await manager.query(
      `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, from_address, to_address, token_symbol,
         decimals, amount, fee_symbol, fee_decimals, status, required_confirmations, updated_at)
       values ($1, $1, $1, $1, $1, 'ethereum', 'OUTBOUND', 'x', $2, 'ETH', 18, 1, 'ETH', 18, 'PENDING', 1, '2026-01-01')`,
      [txId, to],
    );
  });
  await before.destroy();

  const after = await migrate(Schema0001, Security0002);
  const [row] = await after.query<{ to_address_key: string; updated_at: Date }[]>(
    'select to_address_key, updated_at from transactions where tx_id = $1',
    [txId],
  );
  expect(row).toMatchObject({ to_address_key: to.toLowerCase(), updated_at: new Date('2026-01-01') });
  await after.destroy();
});
