import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { payerBrakeRights } from './rights';

const schema = /* sql */ `
-- So many failed payments of one payer in an hour, and the house pays for no more of them; null: no limit.
alter table x402_policies add column failures_per_payer integer default 5 check (failures_per_payer between 1 and 1000);

-- Settlements that a block has executed without paying: the house has paid for them. Written by a trigger alone; those
-- that are older than an hour go with the next failure.
create table x402_failures (
  tx_id uuid primary key references x402_settlements,
  client_id uuid not null,
  chain text not null,
  -- as shown to clients
  payer text not null,
  failed_at timestamptz not null default clock_timestamp()
);
create index x402_failures_by_payer on x402_failures (client_id, chain, payer, failed_at);
create index x402_failures_by_time on x402_failures (failed_at);

-- With the rights of the owner: no process writes what a limit counts. What a reorganisation takes back counts no more.
create function count_failed_payment() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  settled record;
begin
  select s.client_id, s.chain, s.amount, t.from_address into settled
    from x402_settlements s join transactions t using (tx_id) where s.tx_id = new.tx_id;
  if not found or new.kind = 'cancellation' then return null; end if;
  if new.block_number is null or (new.success and coalesce(new.received, 0) >= settled.amount) then
    delete from x402_failures where tx_id = new.tx_id;
    return null;
  end if;
  insert into x402_failures (tx_id, client_id, chain, payer)
  values (new.tx_id, settled.client_id, settled.chain, settled.from_address) on conflict (tx_id) do nothing;
  delete from x402_failures f using (
    select ctid from x402_failures o where o.failed_at < clock_timestamp() - interval '1 hour'
     order by o.failed_at limit 100 for update skip locked
  ) past where f.ctid = past.ctid;
  return null;
end $$;
create trigger transfer_attempts_failed_payment after update on transfer_attempts for each row
  when ((old.block_hash, old.success, old.received) is distinct from (new.block_hash, new.success, new.received))
  execute function count_failed_payment();
`;

/** Which payers have had payments fail on the chain, at the cost of the house. */
export class PayerBrake0068 implements MigrationInterface {
  readonly name = 'PayerBrake1700000000068';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(payerBrakeRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what limits count is not dropped by a migration'));
  }
}
