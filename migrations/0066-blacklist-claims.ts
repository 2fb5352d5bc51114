import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { blacklistClaimRights } from './rights';

const schema = /* sql */ `
-- Until then one worker signals the workflow of this client, and the others leave it alone.
alter table blacklist_versions add column claimed_until timestamptz;

comment on column webhook_deliveries.undispatched_since is
  'null: its workflow was told of it. In the future: a dispatcher is telling it, and from then on another one does';
`;

/** Of several workers one signals that a blacklist has changed. */
export class BlacklistClaims0066 implements MigrationInterface {
  readonly name = 'BlacklistClaims1700000000066';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(blacklistClaimRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('claims are not dropped by a migration'));
  }
}
