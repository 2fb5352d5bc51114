import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import Koa from 'koa';
import { Pool } from 'pg';
import type { TransactionFilter } from '../../../src/transactions/filter';
import { TransactionRepository } from '../../../src/transactions/repository';
import { statementsOf } from '../../integration/following/sent-statements';
import { buildFunded, createFixture, type Fixture, type Funded } from '../../integration/http/fixture';
import { percentiles, round } from '../load';
import { profileOf } from '../processor-profile';

/**
 * Lists and details among 1,000,000 transactions of one client, beside a bare handler (Koa and pg, no authentication, limits, log or check of
 * addresses) that sends the same statements and answers with their rows. Both answer in this process, by turns; a third process asks.
 */
const rows = Number(process.env.BENCH_ROWS ?? 1_000_000);
const rounds = 4;
const atOnce = { inFlight: 8, count: 400 };
/** Of each side before what counts, so that the code of both is compiled. */
const warmUp = 2_000;
const pageSize = 10;

let fixture: Fixture;
let funded: Funded;
beforeAll(async () => {
  fixture = await createFixture();
  funded = await buildFunded(fixture, fixture.demo);
  await insertMany();
}, 600_000);
afterAll(() => fixture.close());

/** Of one account, without triggers; every tenth is on another chain, every second one is a deposit. */
async function insertMany(): Promise<void> {
  const { clientId } = fixture.demo;
  const { walletId } = funded.wallet;
  const { accountId, address } = funded.account;
  await fixture.database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'`);
    await manager.query(
      `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, direction, is_held, is_signed,
         from_address, to_address, to_address_key, token_symbol, decimals, amount, fee_symbol, fee_decimals, fee, status, signing_begun_at, tx_hash,
         position, block_number, block_hash, required_confirmations, ended_at, created_at, version)
       select tx_id, $1, $2, $3, l.ledger_account_id, case when n % 10 = 0 then 'base' else 'ethereum' end,
         case when isout then 'OUTBOUND' else 'INBOUND' end, case when isout then 'out' else 'in' end, isout, isout,
         case when isout then $4 else 'x' end, case when isout then 'y' else $4 end, 'y', 'ETH', 18, n, 'ETH', 18, case when isout then 1 end, 'CONFIRMED',
         case when isout then now() end, 'h' || n, case when isout then null else '0' end, n, 'b', 1, now(), now(), 3
         from (select n, n % 2 = 0 as isout,
                 (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid as tx_id from generate_series(1, $5::int) n) many
         join ledger_accounts l on l.account_id = $3 and l.symbol = 'ETH' and l.chain = 'ethereum'`,
      [clientId, walletId, accountId, address, rows],
    );
    await manager.query(
      `insert into transaction_events (tx_id, seq, status) select tx_id, seq, 'CONFIRMED' from transactions, generate_series(0, 3) seq
        where block_hash = 'b' and block_number > $1`,
      [rows - 20_000],
    );
    await manager.query(`delete from list_totals where list = 'transactions'`);
    await manager.query(
      `insert into list_totals (list, client_id, subject_id, chain, slot, total)
       select 'transactions', client_id, unnest(array[client_id, wallet_id, account_id]), chain, 0, count(*) from transactions group by 1, 2, 3, 4`,
    );
  });
  await fixture.database.query('vacuum analyze');
}

/** What the gateway sends for a read: recorded once, so that the bare handler sends the very same. */
interface Recorded {
  text: string;
  values: unknown[];
  name: string;
}

async function record(run: (repository: TransactionRepository) => Promise<unknown>): Promise<Recorded[]> {
  const sent = await statementsOf(fixture.database, (_, database) => run(new TransactionRepository(database)));
  return sent.map(([text, values]) => ({ text, values, name: createHash('sha256').update(text).digest('base64url') }));
}

/** The rows of the recorded statements as JSON; `tx_id` takes the place of the recorded one. */
async function startBare(recorded: ReadonlyMap<string, Recorded[]>): Promise<{ url: string; close: () => Promise<unknown> }> {
  const { gateway_api: connectionString } = await fixture.logins();
  const pool = new Pool({ connectionString, max: 10 });
  // the server ends connections of a database that is dropped
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const app = new Koa();
  app.use(async (ctx) => {
    const { read = '', tx_id: txId } = ctx.query as Record<string, string | undefined>;
    const results: object[][] = [];
    // one after the other, as the gateway does
    for (const { text, values, name } of recorded.get(read) ?? []) {
      const given = txId === undefined ? values : [values[0], txId];
      results.push((await pool.query({ text, values: given, name })).rows as object[]);
    }
    ctx.body = { data: results };
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await pool.end();
    },
  };
}

const round2 = (value = 0): number => Math.round(value * 100) / 100;

interface Side {
  urls: string[];
  token?: string;
}

interface Ask extends Side {
  inFlight: number;
  count: number;
}

function startAsker() {
  const child = spawn(process.execPath, [path.join(__dirname, '../get.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout);
  const ask = async (what: Ask): Promise<{ ms: number[]; seconds: number }> => {
    const answered = once(lines, 'line', { signal: AbortSignal.timeout(300_000) });
    child.stdin.write(`${JSON.stringify(what)}\n`);
    const [line] = (await answered) as [string];
    return JSON.parse(line) as { ms: number[]; seconds: number };
  };
  return { ask, close: () => void child.kill() };
}

test(`lists and details among ${rows} transactions`, async () => {
  const asker = startAsker();
  const lastPage = Math.ceil(rows / pageSize);
  const { clientId } = fixture.demo;
  const { walletId } = funded.wallet;
  const someIds = await fixture.database.query<{ tx_id: string }[]>(
    `select tx_id from transactions where client_id = $1 and is_held order by tx_id desc limit 200`,
    [clientId],
  );
  const ids = someIds.map(({ tx_id: id }) => id);
  const list =
    (filter: TransactionFilter, page = 1) =>
    (repository: TransactionRepository) =>
      repository.list(clientId, filter, { limit: pageSize, offset: (page - 1) * pageSize });
  const reads: Record<string, { paths: string[]; run: (repository: TransactionRepository) => Promise<unknown>; share?: number }> =
    {
      'page 1': { paths: ['/transactions'], run: list({}) },
      'page 1 of a wallet': { paths: [`/transactions?wallet_id=${walletId}`], run: list({ walletId }) },
      'page 1 of a chain': { paths: ['/transactions?chain=base'], run: list({ chain: 'base' }) },
      'last page': { paths: [`/transactions?page=${lastPage}`], run: list({}, lastPage), share: 0.5 },
      details: {
        paths: ids.map((id) => `/transactions/${id}`),
        run: (repository) => repository.findDetails(clientId, ids[0] ?? ''),
      },
    };
  const recorded = new Map<string, Recorded[]>();
  for (const [name, { run }] of Object.entries(reads)) recorded.set(name, await record(run));
  const bare = await startBare(recorded);
  const loads = Object.entries(reads).map(([name, { paths, share }]) => ({
    ...{ name, share, statements: recorded.get(name)?.length, ours: paths },
    theirs: (name === 'details' ? ids.map((id) => `&tx_id=${id}`) : ['']).map(
      (more) => `/?read=${encodeURIComponent(name)}${more}`,
    ),
  }));
  const toSides = ({ ours, theirs }: { ours: string[]; theirs: string[] }): [Side, Side] => [
    { urls: ours.map((url) => `${fixture.base}${url}`), token: fixture.demo.token },
    { urls: theirs.map((url) => `${bare.url}${url}`) },
  ];
  for (const side of toSides({ ours: ['/transactions'], theirs: ['/?read=page%201'] }))
    await asker.ask({ ...side, inFlight: atOnce.inFlight, count: warmUp });
  for (const { name, ours, theirs, statements, share = 1 } of loads) {
    const sides = toSides({ ours, theirs });
    const count = Math.ceil(atOnce.count * share);
    const [times, seconds, processor] = [[[], []] as number[][], [0, 0], [0, 0]];
    // the first round does not count
    for (let round = 0; round <= rounds; round += 1)
      for (const [index, side] of sides.entries()) {
        const before = process.cpuUsage();
        const answered = await asker.ask({ ...side, inFlight: atOnce.inFlight, count });
        if (round === 0) continue;
        const { user, system } = process.cpuUsage(before);
        processor[index] = (processor[index] ?? 0) + (user + system) / 1000 / (count * rounds);
        times[index]?.push(...answered.ms);
        seconds[index] = (seconds[index] ?? 0) + answered.seconds;
      }
    const [rate = 0, baseline = 1] = seconds.map((each) => (count * rounds) / each);
    const numbers = {
      ...{ read: name, statements, rows, in_flight: atOnce.inFlight, requests: count * rounds },
      ...{ ms: percentiles(times[0] ?? []), baseline_ms: percentiles(times[1] ?? []) },
      ...{ processor_ms: round2(processor[0]), baseline_processor_ms: round2(processor[1]) },
      ...{ rate_per_second: round(rate), baseline_per_second: round(baseline), ratio: round2(rate / baseline) },
    };
    process.stdout.write(`${JSON.stringify({ bench: 'reads', ...numbers })}\n`);
  }
  for (const name of ['page 1', 'details']) {
    const load = loads.find((it) => it.name === name);
    if (!load) throw new Error(`no load is ${name}`);
    const [ours, bareOnes] = toSides(load);
    const profiled = (side: Side) => profileOf(warmUp, () => asker.ask({ ...side, inFlight: atOnce.inFlight, count: warmUp }));
    const shares = { us: await profiled(ours), baseline_us: await profiled(bareOnes) };
    process.stdout.write(`${JSON.stringify({ bench: 'reads, processor', read: name, requests: warmUp, ...shares })}\n`);
  }
  asker.close();
  await bare.close();
}, 900_000);
