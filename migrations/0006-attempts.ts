import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- What an attempt uses up on a chain (a nonce, an input) belongs to one transaction at a time. A reservation with an ordinal (nonce)
-- is never given back: a gap would stop all later ones.
create table reservations (
  reservation_id bigint generated always as identity primary key,
  chain text not null,
  -- canonical form of the address that owns the resource
  owner text not null,
  resource text not null,
  ordinal bigint check (ordinal >= 0),
  tx_id uuid not null references transactions,
  reserved_at timestamptz not null default clock_timestamp(),
  released_at timestamptz,
  unique (reservation_id, tx_id),
  check (ordinal is null or released_at is null)
);
create unique index reservations_held_once on reservations (chain, owner, resource) where released_at is null;
create unique index reservations_by_ordinal on reservations (chain, owner, ordinal) where ordinal is not null;
-- two nonces would let two attempts of one transaction be executed
create unique index reservations_one_ordinal on reservations (tx_id) where ordinal is not null;
create index reservations_by_transaction on reservations (tx_id);

-- The blockchain transactions of a transfer, signed or about to be signed.
create table transfer_attempts (
  tx_id uuid not null references transactions,
  attempt integer not null check (attempt >= 1),
  kind text not null check (kind in ('first', 'replacement', 'reissue', 'cancellation')),
  chain text not null,
  -- facts of the chain that the bytes were built from
  prepared jsonb not null,
  unsigned text not null,
  -- [{key_id, path, protocol, digests}]
  signers jsonb not null,
  -- identifies what is signed, whatever its signature
  message_key text not null,
  -- highest network fee that these bytes can cost
  fee_bound numeric(78,0) not null check (fee_bound >= 0),
  -- id of the transaction with the signatures in signed; attempt_ids has all
  tx_hash text,
  signed text,
  -- when it stops being executable, in the chain family's terms
  expiry jsonb,
  -- why the chain can never execute it any more, whoever holds signed bytes
  impossible_proof jsonb,
  signing_begun_at timestamptz not null default clock_timestamp(),
  signed_at timestamptz,
  broadcast_at timestamptz,
  -- the block that includes it, as last seen; null again after a reorg
  block_number bigint,
  block_hash text,
  -- the id under which it is included
  included_id text,
  success boolean,
  fee numeric(78,0),
  debited numeric(78,0),
  received numeric(78,0),
  primary key (tx_id, attempt),
  unique (chain, tx_hash),
  unique (chain, message_key),
  unique (tx_id, attempt, chain),
  check ((tx_hash is null) = (signed is null)),
  check ((signed_at is null) = (signed is null)),
  check (signed is not null or broadcast_at is null),
  check ((block_number is null) = (block_hash is null)),
  check (block_number is null or (success is not null and fee is not null and included_id is not null))
);
create index transfer_attempts_included on transfer_attempts (chain, block_number) where block_number is not null;
-- false proofs: none, unless a chain or a node has misled
create index transfer_attempts_disproved on transfer_attempts (chain) where impossible_proof is not null and block_number is not null;

create table attempt_reservations (
  tx_id uuid not null,
  attempt integer not null,
  reservation_id bigint not null,
  primary key (tx_id, attempt, reservation_id),
  foreign key (tx_id, attempt) references transfer_attempts,
  foreign key (reservation_id, tx_id) references reservations (reservation_id, tx_id)
);
create index attempt_reservations_by_reservation on attempt_reservations (reservation_id);

-- Every transaction id known of an attempt: on some chains each signature session over the same bytes gives another. One transaction
-- of a chain may carry out several attempts.
create table attempt_ids (
  chain text not null,
  id text not null,
  tx_id uuid not null,
  attempt integer not null,
  primary key (chain, id, tx_id, attempt),
  foreign key (tx_id, attempt, chain) references transfer_attempts (tx_id, attempt, chain)
);
create index attempt_ids_by_attempt on attempt_ids (tx_id, attempt);

-- True when nothing of the transaction can be executed any more. A proof against an attempt that is included is false.
create function all_attempts_impossible(tx uuid) returns boolean language sql stable as $$
  select coalesce(bool_and(impossible_proof is not null and block_hash is null), false) from transfer_attempts where tx_id = tx
$$;

-- True when the attempts agree with the end of a transaction whose signing has begun. In the block that it names one of them was
-- executed (CONFIRMED), or was reverted or is a cancellation (FAILED); without a block it is FAILED and all are impossible.
create function chain_shows_end(t transactions) returns boolean language sql stable as $$
  select case when t.block_hash is null then t.status = 'FAILED' and all_attempts_impossible(t.tx_id)
    else exists (
      select 1 from transfer_attempts a
       where a.tx_id = t.tx_id and (a.included_id, a.block_number, a.block_hash) = (t.tx_hash, t.block_number, t.block_hash)
         and (a.success and a.kind <> 'cancellation') = (t.status = 'CONFIRMED'))
    end
$$;

-- Only an open transaction whose signing has begun reserves anything: a nonce of the address that it leaves, inputs also of other
-- addresses of the client, which then sign too.
create function guard_new_reservation() returns trigger language plpgsql as $$
begin
  if new.released_at is not null or not exists (
    select 1 from transactions t
      join accounts s on s.address = coalesce(t.sender_address, t.from_address) and (s.account_id = t.account_id or t.sender_address is not null)
      join accounts o on o.client_id = s.client_id and o.family = s.family and o.address_key = new.owner
     where t.tx_id = new.tx_id and t.chain = new.chain and (new.ordinal is null or o.account_id = s.account_id)
       and t.signing_begun_at is not null and t.ended_at is null
  ) then
    raise exception '% of % is reserved only by a transaction of that address whose signing has begun', new.resource, new.owner
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger reservations_taken before insert on reservations for each row execute function guard_new_reservation();

-- A reservation without an ordinal is released once: when its transaction is final without it, or no attempt that uses it can be executed.
create function guard_reservation() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'reservations are kept' using errcode = 'integrity_constraint_violation';
  end if;
  if (new.reservation_id, new.chain, new.owner, new.resource, new.ordinal, new.tx_id, new.reserved_at)
       is distinct from (old.reservation_id, old.chain, old.owner, old.resource, old.ordinal, old.tx_id, old.reserved_at)
     or old.released_at is not null or old.ordinal is not null then
    raise exception 'reservation % of % is written once', old.resource, old.owner using errcode = 'integrity_constraint_violation';
  end if;
  if exists (
    select 1 from attempt_reservations r join transfer_attempts a on a.tx_id = r.tx_id and a.attempt = r.attempt
      join transactions t on t.tx_id = r.tx_id
     where r.reservation_id = old.reservation_id
       and (a.block_hash is not null or (a.impossible_proof is null and t.finalized_at is null))
  ) then
    raise exception 'reservation % of % may still be used', old.resource, old.owner using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger reservations_guard before update or delete on reservations for each row execute function guard_reservation();
create trigger reservations_kept before truncate on reservations for each statement execute function refuse_change();

-- An attempt is begun by an open transaction only, whose signing has begun.
create function guard_new_attempt() returns trigger language plpgsql as $$
begin
  if not exists (
    select 1 from transactions t
     where t.tx_id = new.tx_id and t.chain = new.chain and t.is_signed and t.signing_begun_at is not null and t.ended_at is null
  ) then
    raise exception 'attempt % of % has no open transaction whose signing has begun', new.attempt, new.tx_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger transfer_attempts_begun before insert on transfer_attempts for each row execute function guard_new_attempt();

-- Of all attempts of a transaction only one can ever be executed: at commit, a new one uses up something that each earlier one needs,
-- unless that was proven impossible.
create function check_attempts_exclusive() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from transfer_attempts a
     where a.tx_id = new.tx_id and a.attempt < new.attempt and (a.impossible_proof is null or a.block_hash is not null) and not exists (
       select 1 from attempt_reservations r join attempt_reservations n on n.tx_id = r.tx_id and n.reservation_id = r.reservation_id
        where r.tx_id = a.tx_id and r.attempt = a.attempt and n.attempt = new.attempt)
  ) then
    raise exception 'attempt % of % could be executed beside an earlier one', new.attempt, new.tx_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger transfer_attempts_exclusive after insert on transfer_attempts
  deferrable initially deferred for each row when (new.attempt > 1) execute function check_attempts_exclusive();

-- What was signed is kept: an attempt is not deleted; its signed bytes, its id and its proof are written once.
create function guard_attempt() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'attempts are kept' using errcode = 'integrity_constraint_violation';
  end if;
  if (new.tx_id, new.attempt, new.kind, new.chain, new.prepared, new.unsigned, new.signers, new.message_key, new.fee_bound, new.expiry)
       is distinct from
       (old.tx_id, old.attempt, old.kind, old.chain, old.prepared, old.unsigned, old.signers, old.message_key, old.fee_bound, old.expiry)
     or (old.signed is not null and (new.signed, new.tx_hash) is distinct from (old.signed, old.tx_hash))
     or (old.impossible_proof is not null and new.impossible_proof is distinct from old.impossible_proof) then
    raise exception 'attempt % of % is written once', old.attempt, old.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger transfer_attempts_guard before update or delete on transfer_attempts for each row execute function guard_attempt();
create trigger transfer_attempts_kept before truncate on transfer_attempts for each statement execute function refuse_change();
create trigger attempt_reservations_append_only before update or delete or truncate on attempt_reservations
  for each statement execute function refuse_change();
create trigger attempt_ids_append_only before update or delete or truncate on attempt_ids for each statement execute function refuse_change();
`;

/** The attempts of transfers, and what they reserve on the chain. */
export class Attempts0006 implements MigrationInterface {
  readonly name = 'Attempts1700000000006';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was signed is not dropped by a migration'));
  }
}
