import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `hasEffect`: condition on attempt `a` of transaction `t`, beside its execution. */
const chainShowsEnd = (hasEffect: string) => /* sql */ `
create or replace function chain_shows_end(t transactions) returns boolean language sql stable as $$
  select case when t.block_hash is null then t.status = 'FAILED' and all_attempts_impossible(t.tx_id)
    else exists (
      select 1 from transfer_attempts a
       where a.tx_id = t.tx_id and (a.included_id, a.block_number, a.block_hash) = (t.tx_hash, t.block_number, t.block_hash)
         and (a.success and a.kind <> 'cancellation' and ${hasEffect}) = (t.status = 'CONFIRMED'))
    end
$$;
`;

const isPaid = `(t.transaction_type <> 'X402_SETTLE' or coalesce(a.received, 0) >= t.amount)`;
const hasMoved = `(not t.is_held or t.contract_address is null or t.amount = 0 or coalesce(a.debited, 0) > 0 or coalesce(a.received, 0) > 0)`;

/** A payment of held tokens that was executed without any of them moving is a failure. */
export class NothingMoved0062 implements MigrationInterface {
  readonly name = 'NothingMoved1700000000062';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(chainShowsEnd(`${isPaid} and ${hasMoved}`));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(chainShowsEnd(isPaid));
  }
}
