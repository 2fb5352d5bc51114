import { Client } from 'pg';
import { newId } from '../../../src/platform/ids';
import { randomAddress } from '../../factories';
import { buildFunded, buildTenant, createFixture, type Fixture } from './fixture';

/** What accepting a transfer costs in statements, and in waits for the database: docs/performance.md has them. */

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());
afterEach(() => jest.restoreAllMocks());

/** Statements in their order; those of one inner list are sent without waiting for an answer. */
function recordStatements(): string[][] {
  const sent: string[][] = [];
  let unanswered = 0;
  const query = Reflect.get(Client.prototype, 'query') as (...given: unknown[]) => Promise<unknown>;
  jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...given: unknown[]) {
    const [statement] = given as [string | { text: string }];
    if (unanswered === 0) sent.push([]);
    unanswered += 1;
    sent.at(-1)?.push(shorten(typeof statement === 'string' ? statement : statement.text));
    return query.apply(this, given).finally(() => (unanswered -= 1));
  });
  return sent;
}

/** Enough of a statement to know it by. */
const shorten = (text: string): string => {
  const words = text.replace(/\s+/g, ' ').trim().toLowerCase();
  const [, written] = /^(?:insert into|update) "?(\w+)/.exec(words) ?? [];
  const [, read] = / from "?(\w+)/.exec(words) ?? [];
  return written
    ? `write ${written}`
    : words.startsWith('select pg_current_xact_id')
      ? 'settings'
      : words.startsWith('select')
        ? `read ${read}`
        : words.startsWith('with existing')
          ? 'claim'
          : words;
};

async function costsOf(key?: string): Promise<string[][]> {
  const tenant = await buildTenant(fixture);
  const { account } = await buildFunded(fixture, tenant);
  const body = {
    from_address: account.address,
    to_address: randomAddress(),
    chain: 'ethereum',
    token_symbol: 'USDC',
    amount: '1',
  };
  const send = (headers: Record<string, string>) => fixture.call('POST', '/transfer', { tenant, body, headers });
  // what a process reads once
  expect((await send({})).status).toBe(202);
  const sent = recordStatements();
  expect((await send(key === undefined ? {} : { 'Idempotency-Key': key })).status).toBe(202);
  const end = sent.findIndex((together) => together.includes('commit'));
  const costs = sent.slice(0, end + 1);
  process.stdout.write(
    `${JSON.stringify({ costs_of: `accept${key ? ' with a key' : ''}`, waits: costs.length, statements: costs })}\n`,
  );
  return costs;
}

const begin = ['start transaction', 'settings'];
const written = ['write transactions', 'read clients', 'read wallet_limits', 'write audit_events', 'write workflow_outbox'];

test('without a key: four waits, of which one is for all that is read before, and one for all that is written', async () => {
  expect(await costsOf()).toEqual([
    ['read api_keys'],
    [...begin, 'read accounts', 'read chain_cursors'],
    [...written, 'write ledger_holds'],
    ['commit'],
  ]);
});

test('with a key: one more wait, for the claim of the key', async () => {
  expect(await costsOf(newId())).toEqual([
    ['read api_keys'],
    ['claim'],
    [...begin, 'read transactions', 'read transactions', 'read accounts', 'read chain_cursors'],
    [...written, 'write idempotency_keys', 'write ledger_holds'],
    ['commit'],
  ]);
});
