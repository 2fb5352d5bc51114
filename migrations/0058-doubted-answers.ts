import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { doubtedAnswerRights } from './rights';

const schema = /* sql */ `
-- Addresses of which a chain counts more transactions than the gateway knows: somebody else has the key, or rows are missing, as after a
-- restore. Nothing new is begun for them. The row goes with the next ordinal (nonce) that is taken.
create table doubted_ordinals (
  chain text not null,
  -- canonical form of the address
  owner text not null,
  account_id uuid not null references accounts,
  -- how many the chain has counted, and the next one by the rows
  reported bigint not null,
  expected bigint not null,
  since timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  primary key (chain, owner)
);

-- The newest scanned block that a second endpoint of the chain has shown too: what is above is neither credited nor settled.
-- null: the chain has one endpoint.
alter table chain_cursors add column agreed_to bigint;
`;

/** What nodes say, and is not acted on. */
export class DoubtedAnswers0058 implements MigrationInterface {
  readonly name = 'DoubtedAnswers1700000000058';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(doubtedAnswerRights)]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table doubted_ordinals; alter table chain_cursors drop column agreed_to');
  }
}
