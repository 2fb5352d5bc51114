import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { accountKeyRights } from './rights';

const schema = /* sql */ `
-- Keys without children: each is one account's, whose path is that of the key itself. Its index is only counted.
alter table accounts drop constraint accounts_key_protocol_check;
alter table accounts add constraint accounts_key_protocol_check check (key_protocol in ('ecdsa-secp256k1', 'frost-ed25519'));
alter table accounts add constraint accounts_path_of_key check ((key_protocol = 'frost-ed25519') = (derivation_path = 'm'));
create unique index accounts_with_own_key on accounts (key_id) where key_protocol = 'frost-ed25519';

-- Accounts that clients wait for and whose key is being generated: the authoriser orders keys for these alone. A row ends with the insert
-- of its account; one that is not repeated is deleted a day later.
create table account_key_requests (
  account_id uuid primary key,
  wallet_id uuid not null references wallets,
  client_id uuid not null references clients,
  family text not null,
  -- key ids are <account_id>.<attempt>
  attempts integer not null default 1 check (attempts between 1 and 1000),
  in_flight_until timestamptz not null,
  -- the key whose binding was ordered first: a node may have bound it, and binds no other to this account
  key_id text unique,
  requested_at timestamptz not null default clock_timestamp()
);
create index account_key_requests_in_flight on account_key_requests (in_flight_until);
create index account_key_requests_by_age on account_key_requests (requested_at);

create function guard_account_key_request() returns trigger language plpgsql as $$
begin
  if to_jsonb(new) - '{attempts,in_flight_until,key_id}'::text[] is distinct from to_jsonb(old) - '{attempts,in_flight_until,key_id}'::text[]
     or new.attempts < old.attempts or (old.key_id is not null and new.key_id is distinct from old.key_id) then
    raise exception 'what account % waits for is written once', new.account_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger account_key_requests_guard before update on account_key_requests
  for each row execute function guard_account_key_request();
create trigger account_key_requests_house_login before insert on account_key_requests
  for each row execute function guard_login_of_house();

-- What each node has attested about the key of an account. The database does not verify the signatures: whoever shows an address does.
create table account_attestations (
  account_id uuid not null references accounts,
  node smallint not null check (node between 1 and 3),
  -- JSON, and the node's signature over it in base64
  statement text not null check (length(statement) <= 1000),
  signature text not null check (length(signature) = 88),
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (account_id, node)
);
create trigger account_attestations_append_only before update or delete or truncate on account_attestations
  for each statement execute function refuse_change();

-- Both are written by one transaction, the account first.
create function guard_account_attested() returns trigger language plpgsql as $$
begin
  if (select count(*) from account_attestations where account_id = new.account_id) < 3 then
    raise exception 'account % is stored with the attestations of all three nodes', new.account_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger accounts_attested after insert on accounts deferrable initially deferred for each row
  when (new.key_protocol = 'frost-ed25519') execute function guard_account_attested();
`;

/** Keys of single accounts: what is asked for, and what the nodes attest. */
export class AccountKeys0041 implements MigrationInterface {
  readonly name = 'AccountKeys1700000000041';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(accountKeyRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what the nodes have attested is not dropped by a migration'));
  }
}
