import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- The client wants the memo in the transaction on the chain, where everybody can read it: it is part of what is signed.
alter table transactions add column memo_on_chain boolean not null default false;
alter table transactions add constraint memo_to_sign check (not memo_on_chain or coalesce(memo, '') <> '');
`;

export class Memos0043 implements MigrationInterface {
  readonly name = 'Memos1700000000043';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table transactions drop column memo_on_chain');
  }
}
