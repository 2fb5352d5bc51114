import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { authorisationRights } from './rights';

const schema = /* sql */ `
-- What a transaction of type X402_SIGN authorises, beside what its row says: a payment of the client that somebody else carries out.
create table x402_authorisations (
  tx_id uuid primary key references transactions,
  -- of the protocol
  version smallint not null check (version in (1, 2)),
  -- the action of the transaction's intent
  action jsonb not null,
  -- what the resource server asks for, and what is repeated to it; of text, so that it is repeated as it was written
  requirements text not null check (length(requirements) <= 32768),
  resource text check (length(resource) <= 32768),
  extensions text check (length(extensions) <= 32768)
);

-- of a chain whose other resources have ordinals there are few
create index reservations_without_ordinal on reservations (chain, owner) where ordinal is null and released_at is null;

create function guard_authorisation() returns trigger language plpgsql as $$
begin
  if not exists (select from transactions t where t.tx_id = new.tx_id and t.transaction_type = 'X402_SIGN' and t.signing_begun_at is null) then
    raise exception 'authorisation % is not that of its transaction', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger x402_authorisations_guard before insert on x402_authorisations for each row execute function guard_authorisation();
create trigger x402_authorisations_kept before update or delete or truncate on x402_authorisations
  for each statement execute function refuse_change();

create function check_authorisation_stored() returns trigger language plpgsql as $$
begin
  if not exists (select from x402_authorisations where tx_id = new.tx_id) then
    raise exception 'transaction % does not say what it authorises', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger transactions_authorise after insert on transactions
  deferrable initially deferred for each row when (new.transaction_type = 'X402_SIGN') execute function check_authorisation_stored();
`;

/** Payments that clients authorise, for somebody else to carry out. */
export class Authorisations0028 implements MigrationInterface {
  readonly name = 'Authorisations1700000000028';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(authorisationRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was authorised is not dropped by a migration'));
  }
}
