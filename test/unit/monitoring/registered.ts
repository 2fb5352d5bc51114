import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { collectDefaultMetrics } from 'prom-client';
import { metrics } from '../../../src/platform/metrics';
import { root } from './documents';

export interface Registered {
  name: string;
  type: 'counter' | 'gauge' | 'histogram' | 'summary';
  labels: string[];
}

/** Every metric of every process: whatever file of the source makes one is loaded. */
export async function registeredMetrics(): Promise<Map<string, Registered>> {
  for (const file of sourceFiles()) if (/from 'prom-client'/.test(readFileSync(file, 'utf8'))) await import(file);
  collectDefaultMetrics({ register: metrics });
  const all = metrics.getMetricsAsArray() as unknown as { name: string; labelNames?: string[] }[];
  const types = new Map((await metrics.getMetricsAsJSON()).map(({ name, type }) => [name, String(type)]));
  return new Map(
    all.map(({ name, labelNames = [] }) => [name, { name, type: types.get(name) as Registered['type'], labels: labelNames }]),
  );
}

/** Files of the source, the workflows and the activities. */
export const sourceFiles = (): string[] =>
  ['src', 'activities', 'workflows'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => path.join(root, folder, file)),
  );

/** A histogram is asked for by the names of its series. */
export const baseName = (metric: string, registered: ReadonlyMap<string, Registered>): string =>
  registered.has(metric) ? metric : metric.replace(/_(bucket|count|sum)$/, '');
