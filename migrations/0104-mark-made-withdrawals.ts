import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
create function mark_withdrawal_made() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update settler_withdrawals set is_made = true where withdrawal_id = new.tx_id;
  return null;
end $$;
create trigger transactions_withdrawal_made after insert on transactions for each row
  when (new.transaction_type = 'GAS_WITHDRAWAL') execute function mark_withdrawal_made();

-- With the lock of the trigger: also those that were made since the column is there. No lock on the table that a worker waits for.
update settler_withdrawals w set is_made = true where exists (select from transactions t where t.tx_id = w.withdrawal_id);
`;

/** Marks withdrawals from settlers as made, with their transactions; see 0103. */
export class MarkMadeWithdrawals0104 implements MigrationInterface {
  readonly name = 'MarkMadeWithdrawals1700000000104';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the rules of the processes are not dropped by a migration'));
  }
}
