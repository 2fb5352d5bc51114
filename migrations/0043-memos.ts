import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- The client wants the memo in the transaction on the chain, where everybody can read it: it is part of what is signed.
alter table transactions add column memo_on_chain boolean not null default false;
alter table transactions add constraint memo_to_sign check (not memo_on_chain or coalesce(memo, '') <> '');

create function guard_memo() returns trigger language plpgsql as $$
begin
  raise exception 'the memo of transaction % cannot change', new.tx_id using errcode = 'integrity_constraint_violation';
end $$;
create trigger transactions_memo before update on transactions for each row
  when ((new.memo, new.memo_on_chain) is distinct from (old.memo, old.memo_on_chain)) execute function guard_memo();
`;

export class Memos0043 implements MigrationInterface {
  readonly name = 'Memos1700000000043';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table transactions drop column memo_on_chain cascade; drop function guard_memo()');
  }
}
