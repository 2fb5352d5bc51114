import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- UUID version 7, as the code makes them: ids of rows inserted by the database sort by time too.
create function time_ordered_uuid() returns uuid language sql volatile as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$;

-- Writes the audit event for a transfer whose destination was blacklisted after the broadcast. Returns the note for the transfer.
create function too_late(client uuid, tx uuid, since timestamptz) returns text language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  at text := to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
begin
  insert into audit_events (audit_id, action, outcome, actor_type, actor_id, client_id, subject_type, subject_id, detail)
  values (time_ordered_uuid(), 'transfer.blacklisted_after_broadcast', 'success', 'system', 'screening', client, 'transaction', tx::text,
          jsonb_build_object('blacklisted_at', at));
  return 'blacklisted at ' || at || ', after the transaction had been broadcast: it could not be undone';
end $$;

-- An address is blacklisted: open transfers to it that have been broadcast cannot be stopped any more, and get a note.
create function note_blacklisting() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  late uuid;
begin
  for late in
    select tx_id from transactions t
     where t.is_signed and t.ended_at is null and t.client_id = new.client_id and t.chain = new.chain
       and t.to_address_key = new.address_key and t.cancellation_reason is distinct from 'address_blacklisted' and t.screening_note is null
       and exists (select 1 from transfer_attempts a where a.tx_id = t.tx_id and a.kind <> 'cancellation' and a.broadcast_at is not null)
     order by tx_id for no key update
  loop
    update transactions set screening_note = too_late(new.client_id, late, new.activated_at) where tx_id = late;
  end loop;
  return null;
end $$;
create trigger security_factors_blacklisted after insert or update of status, deleted_at on security_factors
  for each row when (new.factor_type = 'BLACKLIST' and new.status = 'active' and new.deleted_at is null)
  execute function note_blacklisting();

-- The opposite order: a transfer is submitted or confirmed after its destination was blacklisted, which happened between the last
-- check of the blacklist and the broadcast, or before confirmation. A transfer that was to be replaced by a cancellation but was executed
-- nevertheless gets the note too. Also refuses a changed destination.
create function note_submission() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  since timestamptz;
begin
  if new.to_address_key is distinct from old.to_address_key then
    raise exception 'the destination of transaction % cannot change', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  if new.is_signed and new.status in ('SUBMITTED', 'CONFIRMED') and new.status <> old.status
     and (case when new.cancellation_reason is distinct from 'address_blacklisted' then new.screening_note is null else new.status = 'CONFIRMED' end)
     and exists (select 1 from transfer_attempts a where a.tx_id = new.tx_id and a.kind <> 'cancellation'
       and (a.broadcast_at is not null or a.block_number is not null)) then
    select activated_at into since from security_factors
     where client_id = new.client_id and factor_type = 'BLACKLIST' and chain = new.chain and address_key = new.to_address_key
       and status = 'active' and deleted_at is null;
    if found then new.screening_note := too_late(new.client_id, new.tx_id, since); end if;
  end if;
  return new;
end $$;
create trigger transactions_screening_note before update on transactions for each row execute function note_submission();
`;

/** Notes on transfers whose destination was blacklisted too late, written by triggers so that no code can omit them. */
export class Screening0012 implements MigrationInterface {
  readonly name = 'Screening1700000000012';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the rules of screening are not dropped by a migration'));
  }
}
