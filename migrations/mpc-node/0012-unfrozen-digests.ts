import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Of the order that the operator has named, in its own order. A permission from before has none and permits nothing.
alter table unfreezes add column digests text[] not null default '{}';
alter table unfreezes alter column digests drop default;

create or replace function use_unfreeze(e journal) returns boolean language plpgsql as $$
begin
  update unfreezes u set used = u.used || e.payload
   where u.key_id = e.key_id and u.peer = e.peer and u.tx_id = e.tx_id and u.attempt = e.attempt and e.payload <> all (u.used)
     and u.digests @> e.digests and u.digests <@ e.digests;
  return found;
end $$;
`;

/** What an operator admits in spite of a ban is what one order says, and no other bytes. */
export class UnfrozenDigests0012 implements MigrationInterface {
  readonly name = 'UnfrozenDigests1700000000012';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('bans are not dropped by a migration'));
  }
}
