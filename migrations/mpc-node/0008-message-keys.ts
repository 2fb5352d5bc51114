import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Identifies the message on its chain; null: the message has a single digest.
alter table journal add column message_key text;
create index journal_by_message on journal (chain, message_key) where message_key is not null;

-- admit_signature, for a message that was never admitted with other digests, in whatever transaction. A digest of BIP-143 has the amount
-- of its own input alone. So the fee of a message can be hidden by two sets of false amounts: in each of them another input has its true
-- one, and together they give a valid signature for every input.
create function admit_message(
  statement text, statement_signature bytea, recipients text[], on_behalf_of text, order_id uuid, compact text, unsigned text, refuse boolean,
  max_failed integer, max_tries integer, key_limit numeric, node_limit numeric,
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
    from admit_signature($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) a;
end $$;
`;

/** One set of digests for each message. */
export class MessageKeys0008 implements MigrationInterface {
  readonly name = 'MessageKeys1700000000008';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('a journal is not dropped by a migration'));
  }
}
