import { Client } from 'pg';
import { newId } from '../../../src/platform/ids';
import { randomAddress } from '../../factories';
import { buildFunded, buildTenant, createFixture, type Fixture } from './fixture';

/** What accepting a transfer costs in statements, and in waits for the database: docs/performance.md has them. */

/** Statements in their order; those of one inner list are sent before any answer has come since the first of them. null: not now. */
let sent: string[][] | null = null;
/** An answer has come since the last statement was sent: what is sent next may have waited for it. */
let isAnswered = true;
/** What a process asks for by time, however many it accepts: the size of the backlog, a part of the quota, who may use the key. */
const byTime = ['read workflow_outbox', 'write request_quotas', 'read api_keys'];
type Query = (...given: unknown[]) => Promise<unknown> | undefined;
const query = Reflect.get(Client.prototype, 'query') as Query;
function count(this: Client, ...given: unknown[]): unknown {
  const [statement] = given as [string | { text: string }];
  const text = shorten(typeof statement === 'string' ? statement : statement.text);
  // as if it were not sent: neither does it begin a wait, nor does its answer end one
  if (byTime.includes(text)) return query.apply(this, given);
  if (isAnswered) sent?.push([]);
  isAnswered = false;
  sent?.at(-1)?.push(text);
  const done = () => (isAnswered = true);
  // the pool gives a callback
  const last = given.at(-1);
  if (typeof last !== 'function') return query.apply(this, given)?.finally(done);
  return query.call(this, ...given.slice(0, -1), (...answer: unknown[]) => {
    done();
    (last as (...all: unknown[]) => void)(...answer);
  });
}

// before any connection is made, each of which keeps it
Reflect.set(Client.prototype, 'query', count);

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());

const names: [RegExp, string][] = [
  [/^(?:insert into|update) "?(\w+)/i, 'write'],
  [/^(select pg_current_xact_id)/i, 'start'],
  [/^with existing[^]+insert into (\w+)/i, 'claim'],
  [/^select[^]+? from "?(\w+)/i, 'read'],
];

/** Enough of a statement to know it by. */
function shorten(text: string): string {
  const words = text.replace(/\s+/g, ' ').trim();
  for (const [form, name] of names) {
    const table = form.exec(words)?.[1];
    if (table !== undefined) return `${name} ${table}`;
  }
  return words.toLowerCase();
}

async function costsOf(key?: string, externalId?: () => string): Promise<string[][]> {
  const tenant = await buildTenant(fixture);
  const { account } = await buildFunded(fixture, tenant);
  const bodyNow = () => ({
    from_address: account.address,
    to_address: randomAddress(),
    chain: 'ethereum',
    token_symbol: 'USDC',
    amount: '1',
    ...(externalId && { external_id: externalId() }),
  });
  const send = (headers: Record<string, string>) => fixture.call('POST', '/transfer', { tenant, body: bodyNow(), headers });
  // what a process reads once
  expect((await send({})).status).toBe(202);
  await fixture.resources.outbox.settled();
  sent = [];
  const statements = sent;
  expect((await send(key === undefined ? {} : { 'Idempotency-Key': key })).status).toBe(202);
  sent = null;
  const end = statements.findIndex((together) => together.includes('commit'));
  const costs = statements.slice(0, end + 1);
  process.stdout.write(
    `${JSON.stringify({ costs_of: `accept${key ? ' with a key' : ''}`, waits: costs.length, statements: costs })}\n`,
  );
  return costs;
}

const begin = ['start transaction', 'start select pg_current_xact_id'];
const written = ['write transactions', 'read clients', 'read wallet_limits', 'write audit_events', 'write workflow_outbox'];

test('without a key: three waits, one for all that is read before, one for all that is written, and the commit', async () => {
  expect(await costsOf()).toEqual([
    [...begin, 'read assets', 'read chain_cursors'],
    [...written, 'write ledger_postings'],
    ['commit'],
  ]);
});

test('with a key: one more wait, for the claim of the key', async () => {
  expect(await costsOf(newId())).toEqual([
    ['claim idempotency_keys'],
    [...begin, 'read transactions', 'read transactions', 'read assets', 'read chain_cursors'],
    [...written, 'write idempotency_keys', 'write ledger_postings'],
    ['commit'],
  ]);
});

test('an external id costs nothing more', async () => {
  expect(await costsOf(newId(), newId)).toEqual(await costsOf(newId()));
});
