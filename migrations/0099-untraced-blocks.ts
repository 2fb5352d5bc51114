import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { untracedBlockRights } from './rights';

const schema = /* sql */ `
-- The first and the last of the blocks that were last scanned at an endpoint that does not show what contracts pass on, or is not seen to: written
-- with the cursor that has passed them, so that the alarm about them outlives the process. null: no block was.
alter table chain_cursors add column untraced_from bigint, add column untraced_to bigint, add column untraced_at timestamptz,
  add constraint chain_cursors_untraced
    check (num_nulls(untraced_from, untraced_to, untraced_at) in (0, 3) and untraced_from <= untraced_to);
`;

/** In which blocks deposits may be missing. */
export class UntracedBlocks0099 implements MigrationInterface {
  readonly name = 'UntracedBlocks1700000000099';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(untracedBlockRights)]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table chain_cursors drop column untraced_from, drop column untraced_to, drop column untraced_at');
  }
}
