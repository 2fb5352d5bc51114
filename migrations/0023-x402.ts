import type { MigrationInterface, QueryRunner } from 'typeorm';
import { houseClientId } from '../src/platform/house';
import { toGrants } from './grants';
import { x402Rights } from './rights';

const schema = /* sql */ `
-- What the house pays for a client; without a row: nothing. Amounts are atomic units of the chain's native coin in 24 hours.
create table x402_policies (
  client_id uuid not null references clients check (client_id <> '${houseClientId}'),
  chain text not null,
  is_enabled boolean not null,
  -- fees of settlements; null: the default of the deployment
  gas_per_day numeric(78,0) check (gas_per_day >= 0),
  -- fees also of what lets a payer's tokens move: a permit that the payer has signed, or an approval that the payer sends
  sponsors_permit boolean not null,
  sponsors_approval boolean not null,
  -- coins sent to payers for their approvals
  top_up_per_day numeric(78,0) not null check (top_up_per_day >= 0),
  primary key (client_id, chain)
);
`;

/** What the house pays for its clients when it settles x402 payments. */
export class X4020023 implements MigrationInterface {
  readonly name = 'X4021700000000023';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(x402Rights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was settled is not dropped by a migration'));
  }
}
