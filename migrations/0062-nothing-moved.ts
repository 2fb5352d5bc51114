import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { agreedEndRights } from './rights';

/** `agreed`: conditions on attempt `a` of transaction `t`, beside its execution: for every end, and for one that is FAILED. */
const chainShowsEnd = ({ hasEffect, agreed }: { hasEffect: string; agreed: string }) => /* sql */ `
create or replace function chain_shows_end(t transactions) returns boolean language sql stable as $$
  select case when t.block_hash is null then t.status = 'FAILED' and all_attempts_impossible(t.tx_id)
    else exists (
      select 1 from transfer_attempts a
       where a.tx_id = t.tx_id and (a.included_id, a.block_number, a.block_hash) = (t.tx_hash, t.block_number, t.block_hash)
         and (a.success and a.kind <> 'cancellation' and ${hasEffect}) = (t.status = 'CONFIRMED')
         and (t.status = 'CONFIRMED' or ${agreed}))
    end
$$;
`;

const isPaid = `(t.transaction_type <> 'X402_SETTLE' or coalesce(a.received, 0) >= t.amount)`;
const hasMoved = `(not t.is_held or t.contract_address is null or t.amount = 0 or coalesce(a.debited, 0) > 0 or coalesce(a.received, 0) > 0)`;
const isAgreed = `a.agreed_by >= case when t.is_held and a.success and a.kind <> 'cancellation' then 2 else 1 end`;

/**
 * A payment of held tokens that was executed without any of them moving is a failure. What a block ends as FAILED is unlocked: every
 * configured endpoint has shown it, and of a payment that was executed at least two have.
 */
export class NothingMoved0062 implements MigrationInterface {
  readonly name = 'NothingMoved1700000000062';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- how many endpoints have shown the inclusion, every configured one; null: they were not all asked, or have not agreed
      alter table transfer_attempts add column agreed_by integer,
        add check (agreed_by is null or (agreed_by >= 1 and block_hash is not null))`);
    await runner.query(chainShowsEnd({ hasEffect: `${isPaid} and ${hasMoved}`, agreed: isAgreed }));
    for (const statement of toGrants(agreedEndRights)) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(chainShowsEnd({ hasEffect: isPaid, agreed: 'true' }));
    await runner.query('alter table transfer_attempts drop column agreed_by');
  }
}
