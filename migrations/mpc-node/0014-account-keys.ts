import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- A key without children is one account's; it has no chain code. Bound into the ciphertext as client and wallet are.
alter table key_shares add column account_id text;
alter table key_shares drop constraint key_shares_public_key_check, drop constraint key_shares_chain_code_check;
alter table key_shares add constraint key_shares_lengths check (
  case protocol when 'frost-ed25519' then length(public_key) = 32 and length(chain_code) = 0
                else length(public_key) = 33 and length(chain_code) = 32 end);
alter table key_shares add constraint key_shares_account check (
  case when wallet_id is null or protocol <> 'frost-ed25519' then account_id is null else account_id is not null end);
`;

/** Keys of single accounts. */
export class AccountKeys0014 implements MigrationInterface {
  readonly name = 'AccountKeys1700000000014';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('key shares are not dropped by a migration'));
  }
}
