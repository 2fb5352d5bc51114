import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- At commit, the postings of a transaction must agree with its state (adjustments by operators are not counted):
-- an open transfer has locked exactly its amount and fee bound, and nothing has left the account;
-- an ended transfer has nothing locked, its fee is posted, and the token has left only if it is CONFIRMED;
-- a deposit is credited while it is CONFIRMED; gas is paid while it is CONFIRMED, and to the network alone;
-- what is signed and holds nothing moves no money of its client.
create function check_money_of_transaction() returns trigger language plpgsql as $$
declare
  t transactions;
  holds boolean;
begin
  select * into t from transactions where tx_id = new.tx_id;
  holds := t.is_held and t.ended_at is null;
  if exists (
    select 1 from (
      select symbol, sum(held) as held, sum(outside) as outside, sum(fees) as fees from (
        select e.symbol,
               case when e.bucket = 'LOCKED' then e.amount else 0 end as held,
               case when e.bucket = 'EXTERNAL' then e.amount else 0 end as outside,
               case when e.bucket = 'FEES' then e.amount else 0 end as fees
          from ledger_postings p join ledger_entries e on e.posting_id = p.posting_id
         where p.tx_id = t.tx_id and p.kind <> 'adjustment'
        union all
        select t.token_symbol,
               case when holds then -t.amount else 0 end,
               case when t.direction = 'in' and t.status = 'CONFIRMED' then t.amount else 0 end,
               0
        union all
        select t.fee_symbol, case when holds then -t.fee_locked else 0 end, 0, case when holds then 0 else -coalesce(t.fee, 0) end
         where t.is_held
        union all
        select t.token_symbol, 0, 0, -t.amount where t.direction = 'out' and not t.is_held and not t.is_signed and t.status = 'CONFIRMED'
      ) lines group by symbol
    ) sums
    where held <> 0 or fees <> 0
       or case when t.is_held and t.status = 'CONFIRMED' and symbol = t.token_symbol then outside <= 0 else outside <> 0 end
  ) then
    raise exception 'the postings of transaction % do not fit its state %', t.tx_id, t.status using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger transactions_money after insert or update on transactions
  deferrable initially deferred for each row execute function check_money_of_transaction();
create constraint trigger ledger_postings_money after insert on ledger_postings
  deferrable initially deferred for each row execute function check_money_of_transaction();
`;

/** At commit, the postings of every transaction agree with its state. */
export class TransactionMoney0008 implements MigrationInterface {
  readonly name = 'TransactionMoney1700000000008';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the rules of the ledger are not dropped by a migration'));
  }
}
