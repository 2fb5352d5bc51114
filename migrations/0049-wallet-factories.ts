import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { walletFactoryRights } from './rights';

const schema = /* sql */ `
-- Contracts (canonical addresses) that the house calls to create the wallet of a payer (ERC-6492); none unless an operator names it.
alter table x402_policies add column wallet_factories text[] not null default '{}'
  check (cardinality(wallet_factories) <= 20 and array_position(wallet_factories, null) is null);

-- what such a settlement does is in its action
alter table x402_settlements drop constraint x402_settlements_sponsoring_check;
alter table x402_settlements add constraint x402_settlements_sponsoring_check
  check (sponsoring in ('none', 'eip2612', 'erc20_approval', 'deployment'));
alter table x402_settlements add constraint x402_settlements_deployment
  check ((sponsoring = 'deployment') = (action ? 'deployment'));
`;

/** Payers whose wallets do not exist yet. */
export class WalletFactories0049 implements MigrationInterface {
  readonly name = 'WalletFactories1700000000049';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(walletFactoryRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was settled is not changed by a migration'));
  }
}
