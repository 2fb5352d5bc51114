import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- At commit: what an ended settlement has cost is charged to the account that has sent it, once and in full; and gas is of nothing else. A
-- fee that changes with a reorganisation is an adjustment on the gas: neither the settlement's fee nor the amount of the gas changes.
create function check_gas() returns trigger language plpgsql as $$
declare
  settlement uuid := case when new.is_signed then new.tx_id else new.parent_tx_id end;
begin
  if settlement is null or exists (
    select from (
        select tx_id, chain, sender_address, fee_symbol, fee from transactions
         where tx_id = settlement and transaction_type = 'X402_SETTLE' and ended_at is not null and fee > 0) s
      full join (
        select g.parent_tx_id, g.chain, a.address, g.token_symbol, g.contract_address, g.amount, g.status
          from transactions g left join accounts a on a.account_id = g.account_id
         where g.parent_tx_id = settlement and g.direction = 'out' and not g.is_held and not g.is_signed) g on g.parent_tx_id = s.tx_id
     where (s.chain, s.sender_address, s.fee_symbol, null, s.fee, 'CONFIRMED')
           is distinct from (g.chain, g.address, g.token_symbol, g.contract_address, g.amount, g.status)
  ) then
    raise exception 'the gas of settlement % is not what it has cost its sender', settlement using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger transactions_gas_paid after insert on transactions
  deferrable initially deferred for each row when (new.transaction_type = 'GAS') execute function check_gas();
create constraint trigger transactions_gas after update on transactions
  deferrable initially deferred for each row
  when (new.transaction_type in ('X402_SETTLE', 'GAS') and (new.status, new.fee) is distinct from (old.status, old.fee))
  execute function check_gas();
`;

/** What settlements have cost, and who is charged for it, agree. */
export class Gas0025 implements MigrationInterface {
  readonly name = 'Gas1700000000025';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the rules of the ledger are not dropped by a migration'));
  }
}
