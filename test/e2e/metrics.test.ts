import { execFileSync } from 'node:child_process';
import { findInstalledPromtool } from '../../dev/promtool';
import { environmentOf, ownPage } from '../adversary/processes';
import { sharedWallet, waitFor } from '../stack/client';
import { pids } from '../stack/pause';
import { dashboard, panelExpressions, rules, selectorsOf } from '../unit/monitoring/documents';

/** Every process of the running gateway shows what rules and panels ask for. */

const groups = { api: 'api', worker: 'worker', authoriser: 'authoriser', mpc: 'mpc-node' } as const;

/** Metrics of each process, by its name and number. */
const pages = new Map<string, string>();
beforeAll(async () => {
  // an answer of the API, a session of the nodes, settlers; then a round of what is read every 15 and every 30 seconds, which a busy machine
  // may miss: it is stale then, or a node not ready, until the next one
  await sharedWallet();
  await waitFor(
    async () => {
      for (const [group, name] of Object.entries(groups))
        for (const [index, pid] of pids(group).entries())
          pages.set(`${name} ${index + 1}`, await (await ownPage(environmentOf(pid), '/metrics')).text());
      const isBad = [...samplesOf('gateway_collection_stale', / 1$/), ...samplesOf('gateway_signing_node_ready', / 0$/)];
      return isBad.length === 0 && expected.every((metric) => samplesOf(metric).length > 0);
    },
    { timeoutMs: 180_000, intervalMs: 2_000 },
  ).catch(() => undefined);
});

const all = () => [...pages.values()].join('\n');
/** Of the lines with a value. */
const samplesOf = (metric: string, value = / /) =>
  all()
    .split('\n')
    .filter((line) => new RegExp(`^${metric}(\\{| )`).test(line) && value.test(line));
const asked = [
  ...new Set([...rules, ...panelExpressions].flatMap(({ expr }) => selectorsOf(expr).map(({ metric }) => metric))),
].filter((metric) => metric !== 'up');

/** Labels that nobody knows before the first event: a code, a reason, or what a settler has paid. */
const afterAnEvent = [
  'gateway_chain_alarms',
  'gateway_mpc_refusals_total',
  'gateway_settler_runway_settlements',
  'gateway_transactions_parked',
  'gateway_transactions_without_workflow',
  'gateway_x402_settlements_total',
];

const expected = asked.filter((metric) => !afterAnEvent.includes(metric));

test('every process names itself, once', () => {
  expect([...pages.keys()]).toEqual(['api 1', 'worker 1', 'authoriser 1', 'mpc-node 1', 'mpc-node 2', 'mpc-node 3']);
  for (const [name, text] of pages)
    expect(text.match(/^gateway_process_info\{.*$/gm)).toEqual([`gateway_process_info{process="${name.split(' ')[0]}"} 1`]);
});

test.each(expected)('%s has a value', (metric) => {
  expect(samplesOf(metric)).not.toEqual([]);
});

test.each(afterAnEvent)('%s is known before its first event', (metric) => {
  expect(asked).toContain(metric);
  expect(all()).toContain(`# TYPE ${metric} `);
});

test('nothing is stale, and all three signing nodes are ready', () => {
  const stale = samplesOf('gateway_collection_stale');
  expect(stale.length).toBe(11);
  for (const line of stale) expect(line).toMatch(/ 0$/);
  expect(samplesOf('gateway_signing_node_ready')).toEqual(
    [1, 2, 3].map((node) => `gateway_signing_node_ready{node="${node}"} 1`),
  );
  expect(dashboard.panels.length).toBeGreaterThan(30);
});

test('no url and no id is in them', () => {
  const withoutSettlers = all().replaceAll(/settler="[^"]*"/g, '');
  expect(withoutSettlers).not.toMatch(/https?:\/\//);
  expect(withoutSettlers).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
});

const promtool = findInstalledPromtool();

(promtool ? test : test.skip)(
  'promtool reads them, and finds nothing wrong with names (skipped where it is not installed)',
  () => {
    for (const text of pages.values()) {
      // metrics of Node.js have names of their own
      const own = text.split('\n').filter((line) => /^(# (HELP|TYPE) )?gateway_/.test(line));
      expect(execFileSync(promtool ?? '', ['check', 'metrics'], { input: `${own.join('\n')}\n`, encoding: 'utf8' })).toBe('');
    }
  },
);
