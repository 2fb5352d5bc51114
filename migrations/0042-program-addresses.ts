import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- The client knows that the recipient is an address of a program, which no key belongs to, and wants it paid. Decided with the request.
alter table transactions add column allow_program_address boolean not null default false;

create function guard_program_address() returns trigger language plpgsql as $$
begin
  raise exception 'what transaction % may be paid to cannot change', new.tx_id using errcode = 'integrity_constraint_violation';
end $$;
create trigger transactions_program_address before update on transactions for each row
  when (new.allow_program_address is distinct from old.allow_program_address) execute function guard_program_address();
`;

export class ProgramAddresses0042 implements MigrationInterface {
  readonly name = 'ProgramAddresses1700000000042';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table transactions drop column allow_program_address cascade; drop function guard_program_address()',
    );
  }
}
