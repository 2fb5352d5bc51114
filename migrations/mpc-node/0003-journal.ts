import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- What this node has agreed to sign: one entry a session, written before the session begins. The statement is what the node signed
-- with its identity key; every column up to admitted_at is in it.
create table journal (
  -- rises with time: never used twice, not even by a node that was restored from a backup
  number bigint primary key,
  tx_id text not null,
  attempt integer not null,
  payload integer not null,
  kind text not null check (kind in ('first', 'replacement', 'reissue', 'cancellation')),
  order_hash text not null,
  order_seq bigint not null,
  resources text[] not null,
  -- of the whole attempt, in the order of its payloads
  digests text[] not null check (payload < cardinality(digests)),
  key_id text not null,
  client_id text not null,
  peer smallint not null check (peer between 1 and 3),
  initiator smallint not null check (initiator between 1 and 3),
  chain text not null,
  -- canonical contract; empty: the native coin
  token text not null,
  amount numeric(78) not null check (amount >= 0),
  fee numeric(78) not null check (fee >= 0),
  admitted_at timestamptz not null,
  statement text not null,
  statement_signature bytea not null,
  -- null: the session runs, or the node ended without a word; not_begun: nothing that depends on this node's share was sent. After
  -- that: silent: the peer sent nothing more; failed: ended without a signature when the peer may have learnt something; stopped: this
  -- node ended the session, or was late itself, by no fault of the peer; interrupted: this node itself ended without a word (one such
  -- session with each peer by each key is failed: the peer may have made it end); recovered: taken back from a peer
  outcome text check (outcome in ('signed', 'not_begun', 'silent', 'failed', 'stopped', 'interrupted', 'recovered')),
  signature bytea,
  session bytea,
  ended_at timestamptz,
  check ((outcome = 'signed') = (signature is not null) or outcome is null)
);
create index journal_by_transaction on journal (tx_id, attempt, payload);
create index journal_counted on journal (key_id, peer) where outcome = 'failed' or outcome is null;
create index journal_open on journal (number) where outcome is null;
create index journal_recovered on journal (admitted_at) where outcome = 'recovered';
create index journal_signed on journal (key_id) where outcome = 'signed';

create function keep_journal() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or new.statement <> old.statement or new.statement_signature <> old.statement_signature or new.number <> old.number
     or old.outcome is not null then
    raise exception 'an entry of the journal is never changed' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger journal_is_kept before update or delete on journal for each row execute function keep_journal();

-- Entries of the peers about sessions with this node: what a restored peer takes back from here.
create table peer_entries (
  node smallint not null check (node between 1 and 3),
  number bigint not null,
  statement text not null,
  signature bytea not null,
  received_at timestamptz not null default now(),
  primary key (node, number)
);

-- What was admitted in each hour, for the sums over 24 hours; key_id is empty in the rows of the whole node.
create table admitted_amounts (
  chain text not null,
  token text not null,
  key_id text not null,
  hour timestamptz not null,
  amount numeric(80) not null,
  primary key (chain, token, key_id, hour)
);

-- What the operator of this node has done to it with the command line.
create table operator_acts (
  act_id bigint generated always as identity primary key,
  operator text not null,
  act text not null check (act in ('journal_accept', 'unfreeze', 'kek_rotated')),
  detail jsonb not null default '{}',
  acted_at timestamptz not null default clock_timestamp(),
  -- when the node has followed it
  followed_at timestamptz
);
`;

/** The node's journal, and the peers' copies. */
export class Journal0003 implements MigrationInterface {
  readonly name = 'Journal1700000000003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('a journal is not dropped by a migration'));
  }
}
