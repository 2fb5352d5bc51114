import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { findInstalledPromtool } from '../../../dev/promtool';
import { alertNames, isAlertName } from '../../../src/platform/alert-names';
import {
  dashboard,
  documentOf,
  missingPoints,
  groupingsOf,
  panelExpressions,
  root,
  rules,
  rulesFile,
  runbookHeadings,
  runbookParagraphs,
  selectorsOf,
} from './documents';
import { baseName, type Registered, registeredMetrics, sourceFiles } from './registered';

/** Rules, dashboard, runbook and source name the same things. */

let registered: Map<string, Registered>;
beforeAll(async () => {
  registered = await registeredMetrics();
});

/** Prometheus adds them. */
const scraped = ['instance', 'job', 'le'];
const labelsOf = (metric: string) => [...scraped, ...(registered.get(baseName(metric, registered))?.labels ?? [])];
const ruleExpressions = rules.map(({ alert, expr }) => ({ title: alert, expr }));
const logSection = 'Log lines';

describe('names of metrics', () => {
  test.each([...ruleExpressions, ...panelExpressions])('$title: $expr', ({ expr }) => {
    const selectors = selectorsOf(expr);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { metric, labels } of selectors.filter((selector) => selector.metric !== 'up')) {
      expect([...registered.keys()]).toContain(baseName(metric, registered));
      for (const label of labels) expect(labelsOf(metric)).toContain(label);
    }
    const known = new Set(selectors.flatMap(({ metric }) => labelsOf(metric)));
    for (const label of groupingsOf(expr)) expect([...known]).toContain(label);
  });

  test('texts of rules name labels that their expression keeps', () => {
    for (const { expr, annotations } of rules)
      for (const [, label = ''] of annotations.summary.matchAll(/\$labels\.(\w+)/g)) {
        const kept = [...groupingsOf(expr), ...selectorsOf(expr).flatMap(({ labels }) => labels)];
        expect([...kept, ...(expr.startsWith('up') ? scraped : [])]).toContain(label);
      }
  });

  test('follow the conventions of Prometheus, and have the prefix', () => {
    for (const { name, type } of registered.values()) {
      if (/^(process|nodejs)_/.test(name)) continue;
      expect(name).toMatch(/^gateway_[a-z0-9_]+$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    }
  });

  test('are in the documents', () => {
    const text = documentOf('observability.md') + documentOf('signing-nodes.md');
    const wildcards = [...text.matchAll(/`(gateway_\w+_)\*`/g)].map(([, prefix = '']) => prefix);
    for (const name of [...registered.keys()].filter((it) => it.startsWith('gateway_')))
      if (!wildcards.some((prefix) => name.startsWith(prefix))) expect(text).toContain(`\`${name}\``);
    // and none that is not there any more
    for (const [, name = ''] of text.matchAll(/`(gateway_\w*[a-z])[`{]/g)) expect([...registered.keys()]).toContain(name);
  });

  test('no label is of a client, a wallet, an account, a transaction or a url', () => {
    const labels = new Set([...registered.values()].flatMap((metric) => metric.labels));
    for (const label of labels) expect(label).not.toMatch(/client|wallet|account|tx|transaction|url|address|key_id|user/);
  });
});

describe('runbook', () => {
  test('has a paragraph for each rule, and for no other', () => {
    const headings = [...runbookHeadings()].flatMap(([section, names]) => (section === logSection ? [] : names));
    expect([...headings].sort()).toEqual(rules.map(({ alert }) => alert).sort());
  });

  test('has a paragraph for each alert in the log, and for no other', () => {
    expect([...(runbookHeadings().get(logSection) ?? [])].sort()).toEqual([...alertNames].sort());
  });

  test.each(runbookParagraphs('alerts.md'))(
    '%s says what it means, what is safe, what to look at, and with which command',
    (_heading, text) => {
      expect(missingPoints(text)).toEqual([]);
    },
  );

  test.each(rules)('$alert has a severity, a sentence and its paragraph', ({ alert, labels, annotations }) => {
    expect(['critical', 'warning']).toContain(labels.severity);
    expect(annotations.summary).toMatch(/^.{20,250}\.$/);
    expect(annotations.runbook_url).toBe(`docs/runbook/alerts.md#${alert.toLowerCase()}`);
  });
});

describe('alerts in the log', () => {
  const source = sourceFiles()
    .filter((file) => !file.endsWith('alert-names.ts'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');

  test('every one in the source is in the list, and every one of the list in the source', () => {
    const literal = [...source.matchAll(/\balert: '(\w+)'/g)].map(([, name]) => name);
    expect(literal.length).toBeGreaterThan(15);
    expect(literal.filter((name) => !isAlertName(name))).toEqual([]);
    expect(alertNames.filter((name) => !source.includes(`'${name}'`))).toEqual([]);
  });

  /** Their state is a gauge: a rule about it ends with it. */
  const byGauge: Record<string, string> = {
    account_used_elsewhere: 'AccountUsedElsewhere',
    blocks_not_agreed: 'ChainAlarm',
    deposits_untraced: 'DepositsUntraced',
    fees_not_believed: 'ChainAlarm',
    journal_behind: 'JournalBehind',
    journal_mark_unwritable: 'JournalMarkUnwritable',
    orders_missing: 'OrdersMissing',
    outputs_spent_elsewhere: 'ForeignSpend',
    settler_dry: 'SettlerDry',
    traces_missing: 'ChainAlarm',
  };

  test('every one has a rule', () => {
    const counted = rules.flatMap(({ expr }) => {
      // a rule selects them twice: those that have increased, and those of a process that has just started
      const selected = [...expr.matchAll(/gateway_alerts_total\{alert=~"([^"]*)"\}/g)].map(([, names = '']) => names);
      expect(new Set(selected).size).toBe(selected.length === 0 ? 0 : 1);
      return selected.slice(0, 1).flatMap((names) => names.split('|'));
    });
    expect(new Set(counted).size).toBe(counted.length);
    expect([...counted, ...Object.keys(byGauge)].sort()).toEqual([...alertNames, 'other'].sort());
    for (const rule of Object.values(byGauge)) expect(rules.map(({ alert }) => alert)).toContain(rule);
  });
});

describe('dashboard', () => {
  test('has the rows, an id for each panel, and no panel over another', () => {
    const { panels, schemaVersion, templating } = dashboard;
    expect(schemaVersion).toBeGreaterThanOrEqual(36);
    expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'chain']);
    expect(panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
      ...['Money', 'Transfers and settlements', 'Chains', 'Signing', 'Webhooks', 'API', 'Processes'],
    ]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
    for (const { type, targets } of panels)
      expect(targets?.length ?? 0).toBe(type === 'row' ? 0 : new Set(targets?.map((it) => it.refId)).size);
  });
});

const program = findInstalledPromtool();

(program ? describe : describe.skip)('Prometheus’ own checks', () => {
  const promtool = (...args: string[]) => execFileSync(program ?? '', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });

  test('accepts the rules (skipped where promtool is not installed)', () => {
    expect(promtool('check', 'rules', rulesFile)).toContain(`${rules.length} rules found`);
  });

  test('accepts the expressions of the panels (skipped where promtool is not installed)', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'panels-'));
    const file = path.join(folder, 'panels.yml');
    writeFileSync(
      file,
      stringify({
        groups: [{ name: 'panels', rules: panelExpressions.map(({ expr }, index) => ({ record: `panel:${index}`, expr })) }],
      }),
    );
    try {
      expect(promtool('check', 'rules', file)).toContain(`${panelExpressions.length} rules found`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  const behaviours = readdirSync(__dirname).filter((file) => file.endsWith('.promtool.yml'));

  test.each(behaviours)('rules fire when they have to, and only then: %s (skipped where promtool is not installed)', (file) => {
    expect(promtool('test', 'rules', path.join(__dirname, file))).toContain('SUCCESS');
  });
});
