import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `isPaid`: condition on attempt `a` of transaction `t`, beside its execution. */
const chainShowsEnd = (isPaid: string) => /* sql */ `
create or replace function chain_shows_end(t transactions) returns boolean language sql stable as $$
  select case when t.block_hash is null then t.status = 'FAILED' and all_attempts_impossible(t.tx_id)
    else exists (
      select 1 from transfer_attempts a
       where a.tx_id = t.tx_id and (a.included_id, a.block_number, a.block_hash) = (t.tx_hash, t.block_number, t.block_hash)
         and (a.success and a.kind <> 'cancellation' and ${isPaid}) = (t.status = 'CONFIRMED'))
    end
$$;
`;

/** A settlement has succeeded only when the chain shows that the seller got all of the payment; else its execution is a failure. */
export class PaidInFull0046 implements MigrationInterface {
  readonly name = 'PaidInFull1700000000046';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(chainShowsEnd(`(t.transaction_type <> 'X402_SETTLE' or coalesce(a.received, 0) >= t.amount)`));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(chainShowsEnd('true'));
  }
}
