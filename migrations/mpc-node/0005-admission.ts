import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- What the operator's limits did not allow, signed by the node.
create table refusals (
  tx_id text not null,
  attempt integer not null,
  reason text not null,
  key_id text not null,
  statement text not null,
  statement_signature bytea not null,
  refused_at timestamptz not null default clock_timestamp(),
  primary key (tx_id, attempt, reason)
);

-- Decides about one signature and writes its entry: one statement, one transaction. Statements that concern the same transaction,
-- those with the same key and peer, and those that spend the same token, wait for each other, so that two cannot pass a check which
-- only one may pass. Unless the node refuses to act on it, the order (order_id, compact, unsigned) is kept in seen_orders.
-- verdict: admitted, unfrozen (admitted in spite of a ban), recorded (with the signature of before), blacklisted (one of the
-- recipients is on the list of the key's client, or of the client on_behalf_of), refused (as refuse says: a limit that does not need the journal), other_digests,
-- unrelated, banned, busy (a session with this peer has to end first), exhausted (max_tries entries about this payload with this peer
-- within an hour), key_limit, node_limit, behind (the entry marked, which the mark outside of the database names, is missing).
create function admit_signature(
  statement text, statement_signature bytea, recipients text[], on_behalf_of text, order_id uuid, compact text, unsigned text, refuse boolean,
  max_failed integer, max_tries integer, key_limit numeric, node_limit numeric,
  marked bigint, copy_statement text, copy_signature bytea,
  out verdict text, out recorded bytea
) language plpgsql as $$
declare
  e journal := jsonb_populate_record(null::journal, statement::jsonb);
  anchor text[];
  series integer;
  added numeric;
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
    update unfreezes u set used = u.used || e.payload
     where u.key_id = e.key_id and u.peer = e.peer and u.tx_id = e.tx_id and u.attempt = e.attempt and e.payload <> all (u.used)
       and not is_running;
    used_unfreeze := found;
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

  -- a transaction counts once, at its largest amount; a reissue, of which nothing here proves that it is the only one, counts anew
  series := case when e.kind = 'reissue' then e.attempt else series_of(e.tx_id, e.attempt) end;
  select e.amount - coalesce(max(j.amount), 0) into added from journal j
   where j.tx_id = e.tx_id and j.chain = e.chain and j.token = e.token and series_of(j.tx_id, j.attempt) = series;
  if added > 0 then
    perform pg_advisory_xact_lock(hashtextextended(e.chain || '/' || e.token, 5));
    if key_limit < added + admitted_amount(e.chain, e.token, e.key_id) then
      verdict := 'key_limit';
    elsif node_limit < added + admitted_amount(e.chain, e.token, '') then
      verdict := 'node_limit';
    end if;
    if verdict is not null then
      -- what was used up above is given back
      update unfreezes u set used = array_remove(u.used, e.payload)
       where used_unfreeze and u.key_id = e.key_id and u.peer = e.peer and u.tx_id = e.tx_id and u.attempt = e.attempt;
      return;
    end if;
    perform count_amount(e.chain, e.token, e.key_id, added, e.admitted_at);
    perform count_amount(e.chain, e.token, '', added, e.admitted_at);
  end if;

  insert into journal select e.*;
  if copy_statement is not null then
    perform keep_copy(e.peer, copy_statement, copy_signature);
  end if;
  verdict := case when used_unfreeze then 'unfrozen' else 'admitted' end;
end $$;

-- What a transaction settles, among what it uses up (src/mpc/verify/ordered.ts).
create function settled_in(resources text[]) returns text[] language sql immutable as $$
  select array(select r from unnest(resources) r where starts_with(r, 'settles ') order by r)
$$;

-- The attempts that exclude each other: a reissue and those after it, up to the next one. Number of its first attempt, or 0.
create function series_of(of_transaction text, of_attempt integer) returns integer language sql stable as $$
  select coalesce(max(attempt), 0) from journal where tx_id = of_transaction and attempt <= of_attempt and kind = 'reissue'
$$;

-- Whole hours: up to an hour more than 24 is counted, never less.
create function admitted_amount(of_chain text, of_token text, of_key text) returns numeric language sql stable as $$
  select coalesce(sum(amount), 0) from admitted_amounts
   where chain = of_chain and token = of_token and key_id = of_key
     and hour >= date_trunc('hour', clock_timestamp() - interval '24 hours')
$$;

create function count_amount(of_chain text, of_token text, of_key text, added numeric, counted_at timestamptz) returns void language plpgsql as $$
begin
  update admitted_amounts set amount = amount + added
   where chain = of_chain and token = of_token and key_id = of_key and hour = date_trunc('hour', counted_at);
  if found then return; end if;
  insert into admitted_amounts values (of_chain, of_token, of_key, date_trunc('hour', counted_at), added);
  delete from admitted_amounts
   where chain = of_chain and token = of_token and key_id = of_key and hour < clock_timestamp() - interval '48 hours';
end $$;

-- After entries were put back: the sums of the last two days anew, from the journal.
create function recount_amounts() returns void language plpgsql as $$
begin
  delete from admitted_amounts;
  insert into admitted_amounts
  select chain, token, key_id, date_trunc('hour', at), sum(amount)
    from (select chain, token, key_id, min(admitted_at) as at, max(amount) as amount from journal
           where admitted_at > clock_timestamp() - interval '48 hours'
           group by chain, token, key_id, tx_id, series_of(tx_id, attempt)) j group by 1, 2, 3, 4;
  insert into admitted_amounts
  select chain, token, '', hour, sum(amount) from admitted_amounts group by 1, 2, 4;
end $$;

create function keep_copy(of_node smallint, statement text, signature bytea) returns void language sql as $$
  insert into peer_entries (node, number, statement, signature)
  values (of_node, (statement::jsonb ->> 'number')::bigint, statement, signature) on conflict do nothing
$$;

-- How a session ended; the first end of an entry is kept. Not waited for by the disk: what a crash takes back costs a new session over
-- the same digests. Returns the failed sessions with this peer by this key, if this one has failed, else 0; null without the entry.
create function finish_signature(
  entry bigint, ended text, signed bytea, in_session bytea, copy_statement text, copy_signature bytea
) returns bigint language plpgsql as $$
declare
  e journal;
begin
  perform set_config('synchronous_commit', case when ended = 'failed' then 'on' else 'off' end, true);
  update journal set outcome = ended, signature = signed, session = in_session, ended_at = clock_timestamp()
   where number = entry and outcome is null returning * into e;
  if not found then
    select * into e from journal where number = entry;
    if not found then return null; end if;
  elsif ended = 'not_begun' then
    -- the operator's permission is for a session that uses the share
    update unfreezes u set used = array_remove(u.used, e.payload)
     where u.key_id = e.key_id and u.peer = e.peer and u.tx_id = e.tx_id and u.attempt = e.attempt;
  end if;
  if copy_statement is not null then
    perform keep_copy(e.peer, copy_statement, copy_signature);
  end if;
  if ended <> 'failed' then return 0; end if;
  return (select count(*) from journal j where j.key_id = e.key_id and j.peer = e.peer and j.outcome = 'failed');
end $$;
`;

/** The two statements of a signature (admitting it, and how it ended), and what is refused. */
export class Admission0005 implements MigrationInterface {
  readonly name = 'Admission1700000000005';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('a journal is not dropped by a migration'));
  }
}
