import type { MigrationInterface, QueryRunner } from 'typeorm';
import { houseClientId } from '../src/platform/house';
import { toGrants } from './grants';
import { houseKeyRights } from './rights';

const payloadTypes = (types: string): string => /* sql */ `
alter table x402_settlements drop constraint x402_settlements_payload_type_check;
alter table x402_settlements add constraint x402_settlements_payload_type_check check (payload_type in (${types}));
`;

const guards = /* sql */ `
-- Who gives the house accounts attests their keys, and nobody else's: as for the accounts themselves.
create function guard_attestation_of_house() returns trigger language plpgsql as $$
declare
  role text := login_role();
begin
  if role is not null and (role = 'gateway_operator') <>
     exists (select from accounts a where a.account_id = new.account_id and a.client_id = '${houseClientId}') then
    raise exception '% may not attest the key of account %', role, new.account_id using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger account_attestations_house_login before insert on account_attestations
  for each row execute function guard_attestation_of_house();

create function guard_key_request_of_client() returns trigger language plpgsql as $$
begin
  if login_role() = 'gateway_operator' and old.client_id <> '${houseClientId}' then
    raise exception 'operators may not change what client % waits for', old.client_id using errcode = 'insufficient_privilege';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end $$;
create trigger account_key_requests_of_clients before update or delete on account_key_requests
  for each row execute function guard_key_request_of_client();
`;

/** Settlements of transactions that their payers have signed, by accounts of the house with keys of their own. */
export class SignedTransactions0052 implements MigrationInterface {
  readonly name = 'SignedTransactions1700000000052';

  async up(runner: QueryRunner): Promise<void> {
    const types = payloadTypes(`'eip3009', 'permit2', 'transaction'`);
    for (const statement of [types, guards, ...toGrants(houseKeyRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('settlements of signed transactions may exist, which would not fit any more'));
  }
}
