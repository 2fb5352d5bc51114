import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- What an entry that is not written yet adds to each of its sums: more than 0. A transaction counts once for each key that signs in its
-- name, at its largest amount; a reissue, of which nothing here proves that it is the only one, counts anew.
create or replace function added_by(e journal) returns table (name text, added numeric) language sql stable as $$
  select c.name, c.counted - coalesce(max(o.counted), 0)
    from counted_of(e.token, e.amount, e.fee) c
    left join (select o.name, o.counted from journal j cross join lateral counted_of(j.token, j.amount, j.fee) o
                where j.tx_id = e.tx_id and j.chain = e.chain and j.key_id = e.key_id
                  and series_of(j.tx_id, j.attempt) = case when e.kind = 'reissue' then e.attempt else series_of(e.tx_id, e.attempt) end
              ) o on o.name = c.name
   group by c.name, c.counted having c.counted > coalesce(max(o.counted), 0)
$$;

-- admit_signature, for a message that was never admitted with other digests, in whatever transaction. A digest of BIP-143 has the amount
-- of its own input alone. So the fee of a message can be hidden by two sets of false amounts: in each of them another input has its true
-- one, and together they give a valid signature for every input. And for an attempt that was never admitted for another account, which its
-- resources name: the digest of an EVM transaction does not depend on the sender, so that the same one would move the money of several
-- accounts and count once.
create or replace function admit_message(
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
  perform pg_advisory_xact_lock(hashtextextended(e.tx_id, 3));
  if exists (select from journal j where j.tx_id = e.tx_id and j.attempt = e.attempt and j.resources <> e.resources) then
    verdict := 'other_digests';
    return;
  end if;
  select a.verdict, a.recorded into verdict, recorded
    from admit_signature($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) a;
end $$;
`;

/** One account for each attempt, and sums that count for every key. */
export class KeysOfAttempts0013 implements MigrationInterface {
  readonly name = 'KeysOfAttempts1700000000013';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('a journal is not dropped by a migration'));
  }
}
