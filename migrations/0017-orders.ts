import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Running number of orders: rises strictly; a number whose transaction was rolled back is left out.
create sequence order_numbers as bigint;

-- What the authoriser has permitted the signing nodes to do: the claims, stored in the database transaction that decided it.
create table orders (
  jti uuid primary key,
  -- a number that was used before a restore may be used again: the jti names an order
  seq bigint not null,
  kind text not null check (kind in ('transfer', 'replacement', 'reissue', 'cancellation', 'settlement', 'typed_data', 'gas',
    'consolidation', 'sweep', 'generate_key', 'bind_key', 'blacklist_page')),
  -- of orders over the bytes of an attempt
  tx_id uuid,
  attempt integer,
  claims jsonb not null,
  issued_at timestamptz not null default clock_timestamp(),
  foreign key (tx_id, attempt) references transfer_attempts,
  check ((tx_id is null) = (attempt is null)),
  check (claims ->> 'jti' = jti::text and (claims ->> 'seq')::bigint = seq and claims ->> 'kind' = kind)
);
create index orders_by_number on orders (seq);
create index orders_by_attempt on orders (tx_id, attempt, seq desc) where tx_id is not null;
-- for the limits on orders for keys and pages
create index orders_by_key on orders ((claims ->> 'key_id') text_pattern_ops, issued_at) where kind in ('generate_key', 'bind_key');
create index orders_by_page on orders ((claims ->> 'client_id'), ((claims ->> 'after')::bigint), issued_at) where kind = 'blacklist_page';
create trigger orders_append_only before update or delete or truncate on orders for each statement execute function refuse_change();

-- What operators ask for; the authoriser cancels nothing that has no reason on record.
create table operator_requests (
  request_id bigint generated always as identity primary key,
  tx_id uuid not null,
  kind text not null check (kind in ('abandon', 'withdrawal')),
  -- the newest when the operator asked: with a newer one the request means nothing any more
  attempt integer not null,
  operator text not null,
  requested_at timestamptz not null default clock_timestamp(),
  foreign key (tx_id, attempt) references transfer_attempts
);
create index operator_requests_by_transaction on operator_requests (tx_id, request_id desc);
create trigger operator_requests_append_only before update or delete or truncate on operator_requests
  for each statement execute function refuse_change();

-- First attempts that the signing nodes' own limits do not allow, in their own words; two of them are a reason to cancel.
create table node_refusals (
  tx_id uuid not null,
  attempt integer not null,
  node smallint not null check (node between 1 and 3),
  -- JSON, and the node's signature over it in base64
  statement text not null,
  signature text not null,
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (tx_id, attempt, node),
  foreign key (tx_id, attempt) references transfer_attempts
);
create trigger node_refusals_append_only before update or delete or truncate on node_refusals
  for each statement execute function refuse_change();

-- What each node has attested about the key of a wallet. The database does not verify the signatures: whoever shows an address does.
create table wallet_attestations (
  wallet_id uuid not null references wallets,
  node smallint not null check (node between 1 and 3),
  -- JSON, and the node's signature over it in base64
  statement text not null check (length(statement) <= 1000),
  signature text not null check (length(signature) = 88),
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (wallet_id, node)
);
create trigger wallet_attestations_append_only before update or delete or truncate on wallet_attestations
  for each statement execute function refuse_change();

create function guard_wallet_attested() returns trigger language plpgsql as $$
begin
  if (select count(*) from wallet_attestations where wallet_id = new.wallet_id) < 3 then
    raise exception 'wallet % becomes active with the attestations of all three nodes', new.wallet_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger wallets_attested before update on wallets for each row
  when (new.key_status = 'ACTIVE' and old.key_status <> 'ACTIVE') execute function guard_wallet_attested();
`;

/** Orders for the signing nodes, what operators have asked for, and what the nodes have signed: refusals and attestations. */
export class Orders0017 implements MigrationInterface {
  readonly name = 'Orders1700000000017';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was permitted is not dropped by a migration'));
  }
}
