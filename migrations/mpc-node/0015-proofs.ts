import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Of a reissue: what this node has read, at an endpoint of its own, about every attempt that the order names (src/mpc/admission.ts).
alter table journal add column proofs jsonb;

-- admit_message, for a reissue only where every other attempt of its transaction that this node has admitted, by any order, is among
-- those that it has proven impossible. Two reissues at once wait for each other. verdict: as there, or unproven.
create function admit_attempt(
  statement text, statement_signature bytea, recipients text[], on_behalf_of text, order_id uuid, compact text, unsigned text, refuse boolean,
  max_failed integer, max_tries integer, limits jsonb,
  marked bigint, copy_statement text, copy_signature bytea,
  out verdict text, out recorded bytea
) language plpgsql as $$
declare
  e journal := jsonb_populate_record(null::journal, statement::jsonb);
begin
  if e.kind = 'reissue' then
    -- the locks of admit_message, in its order
    if e.message_key is not null then
      perform pg_advisory_xact_lock(hashtextextended(e.chain || '/' || e.message_key, 9));
    end if;
    perform pg_advisory_xact_lock(hashtextextended(e.tx_id, 3));
    if exists (select from journal j
                where j.tx_id = e.tx_id and j.attempt <> e.attempt
                  and not exists (select from jsonb_array_elements(e.proofs) p
                                   where (p ->> 'attempt')::integer = j.attempt and p -> 'digests' = to_jsonb(j.digests))) then
      verdict := 'unproven';
      return;
    end if;
  end if;
  select a.verdict, a.recorded into verdict, recorded
    from admit_message($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) a;
end $$;
`;

/** Proofs beside the entries of reissues. */
export class Proofs0015 implements MigrationInterface {
  readonly name = 'Proofs1700000000015';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('a journal is not dropped by a migration'));
  }
}
