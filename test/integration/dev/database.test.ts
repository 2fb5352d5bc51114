import { createTestDatabase } from '../../stack/database';

describe('createTestDatabase', () => {
  it('gives every caller a migrated database of its own', async () => {
    const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await first.database.query(`insert into clients (client_id, name) values (gen_random_uuid(), 'a')`);
    expect(await second.database.query(`select * from clients where name = 'a'`)).toEqual([]);
    await Promise.all([first.drop(), second.drop()]);
  });
});
