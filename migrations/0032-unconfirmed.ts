import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { unconfirmedRights } from './rights';

const schema = /* sql */ `
-- In the unit by which a chain limits what depends on each other in no block; null where it does not.
alter table transfer_attempts add column size integer check (size > 0);

-- What attempts return to their sender on chains of outputs, whether or not they are executed: it may be spent before a block holds it.
create table attempt_outputs (
  chain text not null,
  -- as reservations name it
  resource text not null,
  -- canonical form of the address that it belongs to
  owner text not null,
  -- atomic units of the native coin
  amount numeric(78,0) not null check (amount > 0),
  tx_id uuid not null,
  attempt integer not null,
  primary key (chain, resource),
  foreign key (tx_id, attempt, chain) references transfer_attempts (tx_id, attempt, chain)
);
create index attempt_outputs_by_attempt on attempt_outputs (tx_id, attempt);
create trigger attempt_outputs_append_only before update or delete or truncate on attempt_outputs for each statement execute function refuse_change();

-- What transactions have spent that made outputs of the gateway, and those they descend from, until they are final. A reorganisation may
-- remove them for good: then another transaction spends one of their inputs.
create table output_origins (
  chain text not null,
  transaction text not null,
  -- an output, as reservations name them, whoever's
  input text not null,
  -- id of the transaction that has spent it in the scanned blocks, and its block
  spent_by text,
  spent_block bigint,
  primary key (chain, transaction, input),
  check ((spent_by is null) = (spent_block is null))
);
create index output_origins_by_input on output_origins (chain, input);
create index output_origins_by_block on output_origins (chain, spent_block);

create index transactions_open_by_account on transactions (account_id, chain) where ended_at is null and is_signed;
`;

/** Outputs of transactions that are in no block, and what becomes of those whose blocks are reorganised away. */
export class Unconfirmed0032 implements MigrationInterface {
  readonly name = 'Unconfirmed1700000000032';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(unconfirmedRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('outputs are not dropped by a migration'));
  }
}
