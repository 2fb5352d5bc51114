import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Coins that are rebuilt after their settlement has ended: its end took what they may cost off, since nothing was sent. Their own end takes
-- that off too, so it counts again until then.
create function count_rebuilt_top_up() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform add_x402_cost(a.tx_id, a.client_id, a.chain, s.created_at, a.fee_bound, 0)
     from x402_approvals a join x402_settlements s using (tx_id) join transactions t using (tx_id)
    where a.tx_id = new.parent_tx_id and t.ended_at is not null;
  return null;
end $$;
create constraint trigger transactions_rebuilt_counted after insert on transactions
  deferrable initially deferred for each row when (new.transaction_type = 'GAS_TOPUP' and new.parent_tx_id is not null)
  execute function count_rebuilt_top_up();
`;

/** What coins cost that are rebuilt for a settlement that has ended. */
export class RebuiltTopUpCosts0090 implements MigrationInterface {
  readonly name = 'RebuiltTopUpCosts1700000000090';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop trigger transactions_rebuilt_counted on transactions; drop function count_rebuilt_top_up();');
  }
}
