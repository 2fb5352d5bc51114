import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { foreignOrdinalRights } from './rights';

const schema = /* sql */ `
-- Ordinals (nonces) that final transactions have used of which there are no rows, by the chain's own count: an operator has accepted them
-- as missing after a restore, or has looked why the chain counts more. Every lower one is used up.
create table foreign_ordinals (
  chain text not null,
  -- canonical form of the address that they belong to
  owner text not null,
  -- the lowest ordinal above them
  below bigint not null check (below > 0),
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (chain, owner, below)
);
create trigger foreign_ordinals_append_only before update or delete or truncate on foreign_ordinals
  for each statement execute function refuse_change();
`;

/** Which ordinals other transactions than the stored ones may have used. */
export class ForeignOrdinals0026 implements MigrationInterface {
  readonly name = 'ForeignOrdinals1700000000026';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(foreignOrdinalRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what operators have accepted is not dropped by a migration'));
  }
}
