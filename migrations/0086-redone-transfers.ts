import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { redoRights } from './rights';

const schema = /* sql */ `
-- The transfer in whose place this one was made, since it had ended without paying; each is redone once.
alter table transactions add column retry_of uuid references transactions;
create unique index transactions_by_retry_of on transactions (retry_of) where retry_of is not null;

-- It has ended, and nothing that was signed for it can be executed: nothing was signed, the block that ended it is final, or every attempt is
-- proven impossible and in no block.
create function may_be_redone(t transactions) returns boolean language sql stable as $$
  select t.transaction_type = 'OUTBOUND' and t.status in ('FAILED', 'REJECTED', 'CANCELLED') and t.requested_by is not null
    and t.ended_at > now() - interval '30 days' and (t.block_hash is null or t.finalized_at is not null)
    and not exists (
      select from transfer_attempts a
       where a.tx_id = t.tx_id and case when t.block_hash is null then not is_proven_impossible(a) or a.block_hash is not null
         else a.block_hash is not null and a.block_hash <> t.block_hash end)
$$;
grant execute on function may_be_redone(transactions) to gateway_api, gateway_operator;

-- It moves what that one was to move, of the same account, and nothing else.
create function guard_redone() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    raise exception 'what transaction % was made in place of cannot change', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  if not exists (
    select from transactions t
     where t.tx_id = new.retry_of and may_be_redone(t) and t.contract_address is not distinct from new.contract_address
       and (t.client_id, t.wallet_id, t.account_id, t.asset_id, t.chain, t.transaction_type, t.to_address_key, t.token_symbol, t.decimals, t.amount)
         = (new.client_id, new.wallet_id, new.account_id, new.asset_id, new.chain, new.transaction_type, new.to_address_key, new.token_symbol,
            new.decimals, new.amount)
  ) then
    raise exception 'transaction % does not redo transaction %', new.tx_id, new.retry_of using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger transactions_redone before insert on transactions for each row when (new.retry_of is not null) execute function guard_redone();
create trigger transactions_redone_kept before update on transactions for each row
  when (new.retry_of is distinct from old.retry_of) execute function guard_redone();

-- What operators want redone. They say which transfer and nothing else; the API makes the new one of that one's row.
create table redo_requests (
  request_id bigint generated always as identity primary key,
  tx_id uuid not null references transactions,
  operator text not null,
  requested_at timestamptz not null default clock_timestamp(),
  -- a copy of the API is carrying it out until then
  attempting_until timestamptz not null default '-infinity',
  ended_at timestamptz,
  -- the transfer that stands in its place, made by this request or before it
  new_tx_id uuid references transactions,
  -- why it was refused, or, while it is open, why it could not be carried out yet
  failure_code text,
  failure_message text,
  check ((ended_at is not null and failure_code is null) = (new_tx_id is not null)),
  check ((failure_code is null) = (failure_message is null))
);
create unique index redo_requests_open on redo_requests (tx_id) where ended_at is null;
create index redo_requests_by_transaction on redo_requests (tx_id, request_id desc);

create function guard_redo_request() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if not exists (select from transactions t where t.tx_id = new.tx_id and may_be_redone(t)) then
      raise exception 'transaction % may not be redone', new.tx_id using errcode = 'integrity_constraint_violation';
    end if;
    if (select count(*) from redo_requests where ended_at is null) >= 1000 then
      raise exception 'too many transfers wait to be redone' using errcode = 'integrity_constraint_violation';
    end if;
    new.requested_at := clock_timestamp();
    return new;
  end if;
  if old.ended_at is not null or (new.request_id, new.tx_id, new.operator, new.requested_at)
      is distinct from (old.request_id, old.tx_id, old.operator, old.requested_at) then
    raise exception 'redo request % is written once', old.request_id using errcode = 'integrity_constraint_violation';
  end if;
  if new.new_tx_id is not null and not exists (
    select from transactions n join transactions t on t.client_id = n.client_id and t.transaction_type = n.transaction_type
     where n.tx_id = new.new_tx_id and t.tx_id = new.tx_id and n.tx_id <> t.tx_id
  ) then
    raise exception 'transaction % does not redo transaction %', new.new_tx_id, new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  if new.ended_at is not null then new.ended_at := clock_timestamp(); end if;
  return new;
end $$;
create trigger redo_requests_guard before insert or update on redo_requests for each row execute function guard_redo_request();
create trigger redo_requests_kept before delete or truncate on redo_requests for each statement execute function refuse_change();
`;

/** Transfers that have ended without paying are made once more, at an operator's request. */
export class RedoneTransfers0086 implements MigrationInterface {
  readonly name = 'RedoneTransfers1700000000086';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(redoRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was redone is not dropped by a migration'));
  }
}
