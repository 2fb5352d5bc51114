import { metrics } from '../src/platform/metrics';

/**
 * Sum of the series of a metric of this process whose labels are the given ones; of a histogram, with `_count`, how often it was observed.
 * 0: there is none.
 */
export async function metricValue(name: string, labels: Record<string, string> = {}): Promise<number> {
  const base = name.replace(/_count$/, '');
  const { values } = (await metrics.getSingleMetric(base)?.get()) ?? { values: [] };
  const series = values.filter((it) => ('metricName' in it ? it.metricName === name : base === name));
  return series
    .filter((it) => Object.entries(labels).every(([label, wanted]) => String(it.labels[label as never]) === wanted))
    .reduce((sum, { value }) => sum + value, 0);
}
