import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- A nonce in use is a row. It is inserted in the database transaction that begins signing and never given back.
create table nonces (
  chain text not null,
  address_key text not null,
  nonce bigint not null check (nonce >= 0),
  tx_id uuid not null references transactions,
  taken_at timestamptz not null default now(),
  primary key (chain, address_key, nonce),
  unique (tx_id),
  unique (chain, address_key, nonce, tx_id)
);

-- The blockchain transactions of a transfer, signed or about to be signed. All attempts of one transfer share its nonce.
create table transfer_attempts (
  tx_id uuid not null references transactions,
  attempt integer not null check (attempt >= 1),
  kind text not null check (kind in ('first', 'replacement', 'cancellation')),
  chain text not null,
  from_key text not null,
  nonce bigint not null,
  unsigned text not null,
  -- highest network fee that these bytes can cost, L1 data fee included
  fee_bound numeric(78,0) not null check (fee_bound >= 0),
  tx_hash text,
  signed text,
  signing_begun_at timestamptz not null default clock_timestamp(),
  signed_at timestamptz,
  broadcast_at timestamptz,
  -- the block that includes it, as last seen; null again after a reorg
  block_number bigint,
  block_hash text,
  success boolean,
  fee numeric(78,0),
  debited numeric(78,0),
  received numeric(78,0),
  primary key (tx_id, attempt),
  unique (chain, tx_hash),
  foreign key (chain, from_key, nonce, tx_id) references nonces (chain, address_key, nonce, tx_id),
  check ((tx_hash is null) = (signed is null)),
  check ((signed_at is null) = (signed is null)),
  -- only bytes that are stored here are broadcast, and so only those can be included in a block
  check (signed is not null or (broadcast_at is null and block_number is null)),
  check ((block_number is null) = (block_hash is null)),
  check (block_number is null or (success is not null and fee is not null))
);
create index transfer_attempts_open on transfer_attempts (chain) where tx_hash is not null and block_number is null;

-- Only an open transfer whose signing has begun takes a nonce, for its own address and chain.
create function guard_new_nonce() returns trigger language plpgsql as $$
begin
  if not exists (
    select 1 from transactions t join accounts a on a.account_id = t.account_id
     where t.tx_id = new.tx_id and t.chain = new.chain and a.address_key = new.address_key
       and t.signing_begun_at is not null and t.ended_at is null
  ) then
    raise exception 'nonce % of % is taken only by a transfer of that address whose signing has begun', new.nonce, new.address_key
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger nonces_taken before insert on nonces for each row execute function guard_new_nonce();
create trigger nonces_append_only before update or delete or truncate on nonces for each statement execute function refuse_change();

-- What was signed is kept: an attempt is not deleted, its signed bytes and hash are written once.
create function guard_attempt() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'attempts are kept' using errcode = 'integrity_constraint_violation';
  end if;
  if (new.tx_id, new.attempt, new.kind, new.chain, new.from_key, new.nonce, new.unsigned, new.fee_bound)
       is distinct from (old.tx_id, old.attempt, old.kind, old.chain, old.from_key, old.nonce, old.unsigned, old.fee_bound)
     or (old.signed is not null and (new.signed, new.tx_hash) is distinct from (old.signed, old.tx_hash)) then
    raise exception 'attempt % of % is written once', old.attempt, old.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger transfer_attempts_guard before update or delete on transfer_attempts for each row execute function guard_attempt();
create trigger transfer_attempts_kept before truncate on transfer_attempts for each statement execute function refuse_change();
`;

/** Nonces, and the signed attempts of transfers. */
export class Attempts0006 implements MigrationInterface {
  readonly name = 'Attempts1700000000006';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was signed is not dropped by a migration'));
  }
}
