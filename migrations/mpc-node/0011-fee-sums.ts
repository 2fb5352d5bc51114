import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
drop function admit_message;
drop function admit_signature;

-- The sums that an entry counts for, by name: that of its token, and of the chain's fees. What the house pays has the fee in it.
create function counted_of(token text, amount numeric, fee numeric) returns table (name text, counted numeric) language sql immutable as $$
  values (token, amount), ('fees', case token when 'gas' then 0 else fee end)
$$;

-- What an entry that is not written yet adds to each of its sums: more than 0. A transaction counts once, at its largest amount; a
-- reissue, of which nothing here proves that it is the only one, counts anew.
create function added_by(e journal) returns table (name text, added numeric) language sql stable as $$
  select c.name, c.counted - coalesce(max(o.counted), 0)
    from counted_of(e.token, e.amount, e.fee) c
    left join (select o.name, o.counted from journal j cross join lateral counted_of(j.token, j.amount, j.fee) o
                where j.tx_id = e.tx_id and j.chain = e.chain
                  and series_of(j.tx_id, j.attempt) = case when e.kind = 'reissue' then e.attempt else series_of(e.tx_id, e.attempt) end
              ) o on o.name = c.name
   group by c.name, c.counted having c.counted > coalesce(max(o.counted), 0)
$$;

-- Counts an entry that is not written yet, unless a sum would be above its limit: then nothing is counted, and the verdict says which.
-- limits: {"<name>": {"key": "<highest sum of one key>", "node": "<of the whole node>"}}; what is missing or null has none.
create function count_entry(e journal, limits jsonb) returns text language plpgsql as $$
declare
  a record;
begin
  for a in select * from added_by(e) order by name loop
    perform pg_advisory_xact_lock(hashtextextended(e.chain || '/' || a.name, 5));
    if (limits -> a.name ->> 'key')::numeric < a.added + admitted_amount(e.chain, a.name, e.key_id) then
      return case a.name when 'fees' then 'key_fees' else 'key_limit' end;
    elsif (limits -> a.name ->> 'node')::numeric < a.added + admitted_amount(e.chain, a.name, '') then
      return case a.name when 'fees' then 'node_fees' else 'node_limit' end;
    end if;
  end loop;
  for a in select * from added_by(e) loop
    perform count_amount(e.chain, a.name, e.key_id, a.added, e.admitted_at);
    perform count_amount(e.chain, a.name, '', a.added, e.admitted_at);
  end loop;
  return null;
end $$;

create or replace function recount_amounts() returns void language plpgsql as $$
begin
  delete from admitted_amounts;
  insert into admitted_amounts
  select chain, name, key_id, date_trunc('hour', at), sum(amount)
    from (select j.chain, c.name, j.key_id, min(j.admitted_at) as at, max(c.counted) as amount
            from journal j cross join lateral counted_of(j.token, j.amount, j.fee) c
           where j.admitted_at > clock_timestamp() - interval '48 hours'
           group by j.chain, c.name, j.key_id, j.tx_id, series_of(j.tx_id, j.attempt) having max(c.counted) > 0) j group by 1, 2, 3, 4;
  insert into admitted_amounts
  select chain, token, '', hour, sum(amount) from admitted_amounts group by 1, 2, 4;
end $$;

-- Uses up the operator's permission to sign in spite of a ban. Returns whether there was one.
create function use_unfreeze(e journal) returns boolean language plpgsql as $$
begin
  update unfreezes u set used = u.used || e.payload
   where u.key_id = e.key_id and u.peer = e.peer and u.tx_id = e.tx_id and u.attempt = e.attempt and e.payload <> all (u.used);
  return found;
end $$;

create function give_back_unfreeze(e journal) returns void language sql as $$
  update unfreezes u set used = array_remove(u.used, e.payload)
   where u.key_id = e.key_id and u.peer = e.peer and u.tx_id = e.tx_id and u.attempt = e.attempt
$$;

-- Decides about one signature and writes its entry: one statement, one transaction. Statements that concern the same transaction,
-- those with the same key and peer, and those that spend the same token, wait for each other, so that two cannot pass a check which
-- only one may pass. Unless the node refuses to act on it, the order (order_id, compact, unsigned) is kept in seen_orders.
-- verdict: admitted, unfrozen (admitted in spite of a ban), recorded (with the signature of before), blacklisted (one of the
-- recipients is on the list of the key's client, or of the client on_behalf_of), refused (as refuse says: a limit that does not need the journal), other_digests,
-- unrelated, banned, busy (a session with this peer has to end first), exhausted (max_tries entries about this payload with this peer
-- within an hour), key_limit, node_limit, key_fees, node_fees (as limits says: by name of a sum the highest of one key and of the
-- whole node), behind (the entry marked, which the mark outside of the database names, is missing).
create function admit_signature(
  statement text, statement_signature bytea, recipients text[], on_behalf_of text, order_id uuid, compact text, unsigned text, refuse boolean,
  max_failed integer, max_tries integer, limits jsonb,
  marked bigint, copy_statement text, copy_signature bytea,
  out verdict text, out recorded bytea
) language plpgsql as $$
declare
  e journal := jsonb_populate_record(null::journal, statement::jsonb);
  anchor text[];
  used_unfreeze boolean := false;
  failed bigint;
  running bigint;
  tries bigint;
  is_running boolean;
begin
  e.statement := statement;
  e.statement_signature := statement_signature;
  if marked is not null and not exists (select from journal j where j.number = marked) then
    verdict := 'behind';
    return;
  end if;
  if exists (select from blacklist b
              where b.client_id in (e.client_id, on_behalf_of) and b.chain = e.chain and b.address_key = any (recipients)) then
    verdict := 'blacklisted';
    return;
  end if;
  insert into seen_orders values (order_id, e.order_seq, compact, unsigned) on conflict do nothing;
  if refuse then
    verdict := 'refused';
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(e.tx_id, 3));

  if exists (select from journal j where j.tx_id = e.tx_id and j.attempt = e.attempt and j.digests <> e.digests) then
    verdict := 'other_digests';
    return;
  end if;
  select j.signature into recorded from journal j
   where j.tx_id = e.tx_id and j.attempt = e.attempt and j.payload = e.payload and j.signature is not null limit 1;
  if found then
    verdict := 'recorded';
    return;
  end if;

  -- A later attempt uses up the first resource of the first one, or of the newest reissue: so only one of them can be executed. A
  -- replacement settles what that one settles, if anything; a cancellation settles nothing.
  select j.resources into anchor from journal j
   where j.tx_id = e.tx_id and j.attempt <> e.attempt and j.outcome is distinct from 'not_begun'
   order by j.kind in ('first', 'reissue') and j.attempt < e.attempt desc,
            case when j.kind in ('first', 'reissue') then -j.attempt else j.attempt end
   limit 1;
  if found and e.kind <> 'reissue'
     and ((anchor[1] = any (e.resources)) is not true or (e.kind = 'replacement' and settled_in(e.resources) <> settled_in(anchor))) then
    verdict := 'unrelated';
    return;
  end if;

  perform pg_advisory_xact_lock(hashtextextended(e.key_id || '/' || e.peer, 7));
  select count(*) filter (where j.admitted_at > clock_timestamp() - interval '1 hour'), coalesce(bool_or(j.outcome is null), false)
    into tries, is_running from journal j
   where j.tx_id = e.tx_id and j.attempt = e.attempt and j.payload = e.payload and j.peer = e.peer;
  select count(*) filter (where j.outcome = 'failed'), count(*) filter (where j.outcome is null) into failed, running from journal j
   where j.key_id = e.key_id and j.peer = e.peer and (j.outcome = 'failed' or j.outcome is null);
  if failed >= max_failed or exists (select from bans b where b.key_id = e.key_id and b.peer = e.peer) then
    used_unfreeze := case when is_running then false else use_unfreeze(e) end;
    if not used_unfreeze then
      verdict := 'banned';
      return;
    end if;
  -- each session that runs may fail: together they must not become more than may fail
  elsif is_running or failed + running >= max_failed then
    verdict := 'busy';
    return;
  elsif tries >= max_tries then
    verdict := 'exhausted';
    return;
  end if;

  verdict := count_entry(e, limits);
  if verdict is not null then
    if used_unfreeze then perform give_back_unfreeze(e); end if;
    return;
  end if;

  insert into journal select e.*;
  if copy_statement is not null then
    perform keep_copy(e.peer, copy_statement, copy_signature);
  end if;
  verdict := case when used_unfreeze then 'unfrozen' else 'admitted' end;
end $$;

-- admit_signature, for a message that was never admitted with other digests, in whatever transaction. A digest of BIP-143 has the amount
-- of its own input alone. So the fee of a message can be hidden by two sets of false amounts: in each of them another input has its true
-- one, and together they give a valid signature for every input.
create function admit_message(
  statement text, statement_signature bytea, recipients text[], on_behalf_of text, order_id uuid, compact text, unsigned text, refuse boolean,
  max_failed integer, max_tries integer, limits jsonb,
  marked bigint, copy_statement text, copy_signature bytea,
  out verdict text, out recorded bytea
) language plpgsql as $$
declare
  e journal := jsonb_populate_record(null::journal, statement::jsonb);
begin
  if e.message_key is not null then
    perform pg_advisory_xact_lock(hashtextextended(e.chain || '/' || e.message_key, 9));
    if exists (select from journal j where j.chain = e.chain and j.message_key = e.message_key and j.digests <> e.digests) then
      verdict := 'other_digests';
      return;
    end if;
  end if;
  select a.verdict, a.recorded into verdict, recorded
    from admit_signature($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) a;
end $$;
`;

/** Sums of fees, beside those of what is moved. */
export class FeeSums0011 implements MigrationInterface {
  readonly name = 'FeeSums1700000000011';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('a journal is not dropped by a migration'));
  }
}
