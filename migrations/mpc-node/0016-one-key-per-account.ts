import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Two keys must not be attested for one account. */
const schema = /* sql */ `
create unique index key_shares_one_per_account on key_shares (account_id) where account_id is not null;
`;

/** One bound key for an account. */
export class OneKeyPerAccount0016 implements MigrationInterface {
  readonly name = 'OneKeyPerAccount1700000000016';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('key shares are not dropped by a migration'));
  }
}
