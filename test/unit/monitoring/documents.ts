import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

/** Rules, dashboard and runbook as they are in the repository. */

export const root = path.resolve(__dirname, '../../..');
export const rulesFile = path.join(root, 'monitoring/alerts.yml');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

export interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
}

export const rules = (parse(read('monitoring/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

export interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { h: number; w: number; x: number; y: number };
  targets?: { refId: string; expr: string }[];
}

export const dashboard = JSON.parse(read('monitoring/dashboard.json')) as {
  schemaVersion: number;
  panels: Panel[];
  templating: { list: { name: string; type: string }[] };
};

/** What Grafana puts in place of its variables. */
export const panelExpressions = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$chain', '.*') })),
);

/** Headings of the third level, by the heading of the second level above them. */
export function runbookHeadings(file = 'alerts.md'): Map<string, string[]> {
  const sections = new Map<string, string[]>();
  let section = '';
  for (const line of documentOf(`runbook/${file}`).split('\n')) {
    if (line.startsWith('## ')) sections.set((section = line.slice(3)), []);
    if (line.startsWith('### ')) sections.get(section)?.push(line.slice(4));
  }
  return sections;
}

/** Paragraphs of the third level as one line each, by their heading; those that only lead to another one are left out. */
export function runbookParagraphs(file: string): [string, string][] {
  const parts = documentOf(`runbook/${file}`).split(/^### /m).slice(1);
  return parts.flatMap((part): [string, string][] => {
    const [heading = '', ...lines] = (part.split(/^## /m)[0] ?? '').split('\n');
    const text = lines.join(' ').replaceAll(/\s+/g, ' ').trim();
    return text.startsWith('See [') ? [] : [[heading, text]];
  });
}

/** What the paragraph of an alert or of a code says, told by the words that such sentences have here. */
const points: Record<string, RegExp> = {
  'what it means': /^[^`]{30,}?[.:,(]|^.{40,}?[.:,(]/,
  'what is safe':
    /\b(nothing|none|nobody|never|no (money|order|signature)|not concerned|locked|frozen|refused|safe|waits?|by itself|pay once|(pairs|nodes|others) sign)\b/i,
  'what to look at, and with which command':
    /`(gateway|curl|docker|select|\/health)\b|`[A-Z][A-Z_<>]{4,}|\]\(|\b(Temporal UI|pg_stat_activity|[Pp]anels?|explorer|alerts?)\b|Nothing to do/,
};

export const missingPoints = (text: string): string[] =>
  Object.entries(points).flatMap(([point, said]) => (said.test(text) ? [] : [point]));

export const documentOf = (name: string): string => read(`docs/${name}`);

export interface Selector {
  metric: string;
  /** Names of its matchers. */
  labels: string[];
}

/** The metrics that an expression names, with the labels that it selects by. */
export const selectorsOf = (expr: string): Selector[] =>
  [...expr.matchAll(/\b((?:gateway|process|nodejs)_\w+|up\b)(?:\{([^}]*)\})?/g)].map(([, metric = '', matchers = '']) => ({
    metric,
    labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label),
  }));

/** Labels that an expression groups or joins by. */
export const groupingsOf = (expr: string): string[] =>
  [...expr.matchAll(/\b(?:by|on|group_left)\s*\(([^)]*)\)/g)]
    .flatMap(([, list = '']) => list.split(',').map((it) => it.trim()))
    .filter(Boolean);
