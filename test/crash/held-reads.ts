/**
 * Steps that begin with a read, held by row-level security, which is asked about every row that is read:
 *  - start: the API reads the transfer whose workflow it is about to start;
 *  - adoptHold, beginSigning: worker and authoriser lock the row;
 *  - screenTransfer: the worker looks for the recipient in the client's lists, which must have it.
 */
export type ReadStep = 'start' | 'adoptHold' | 'beginSigning' | 'screenTransfer';

export const installReads = `
  create function holds.read_transaction(from_address text) returns boolean language plpgsql cost 100000 as $$
  declare
    statement text := current_query();
    process text := current_setting('application_name');
  begin
    if statement like '%as unstarted%' then
      perform holds.wait('start', from_address);
    elsif statement like '%FOR NO KEY UPDATE' and process = 'gateway-worker' then
      perform holds.wait('adoptHold', from_address);
    elsif statement like '%FOR NO KEY UPDATE' and process = 'gateway-authoriser' then
      perform holds.wait('beginSigning', from_address);
    end if;
    return true;
  end $$;
  create function holds.read_entry(address text) returns boolean language plpgsql cost 100000 as $$
  begin
    if current_setting('application_name') = 'gateway-worker' then perform holds.wait('screenTransfer', address); end if;
    return true;
  end $$;
  create policy held on transactions using (holds.read_transaction(from_address)) with check (true);
  create policy held on security_factors using (holds.read_entry(address_key)) with check (true);
  alter table transactions enable row level security, force row level security;
  alter table security_factors enable row level security, force row level security;`;

export const removeReads = `
  alter table transactions disable row level security, no force row level security;
  alter table security_factors disable row level security, no force row level security;`;
