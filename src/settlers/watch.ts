import type { EntityManager } from 'typeorm';
import type { GetFamily } from '../chains/family';
import type { Logger } from '../platform/logging';
import { oldestSettlement, openSettlements, refusedClients, settlerBalance, settlerRunway, settlerSupply } from './metrics';
import { reportSettlers, type SettlerReport } from './report';
import { dryRunway, getSupply, lowRunway, type Supply } from './supply';

/** Measures the settlers (a collection of src/monitoring/collector.ts), and logs once when one of them runs out of coins. */
export class SettlerWatch {
  private supplies = new Map<string, Supply>();

  constructor(
    private readonly getFamily: GetFamily,
    private readonly log: Pick<Logger, 'error' | 'warn' | 'info'>,
  ) {}

  async run(manager: EntityManager): Promise<void> {
    const reports = await reportSettlers(manager, this.getFamily);
    const before = this.supplies;
    this.supplies = new Map(reports.map((report) => [report.settlerId, getSupply(report)]));
    // a settler that is gone, or a runway that is not known any more
    for (const gauge of gauges) gauge.reset();
    for (const report of reports) {
      measure(report);
      this.tell(report, before.get(report.settlerId) ?? 'enough');
    }
  }

  private tell(report: SettlerReport, before: Supply): void {
    const { settlerId: settler_id, chain, balance, runway } = report;
    const supply = getSupply(report);
    if (supply === before) return;
    const about = { settler_id, chain, balance: balance.toString(), runway: runway?.toString() ?? null };
    if (supply === 'dry')
      this.log.error({ alert: 'settler_dry', ...about }, `a settler has coins for fewer than ${dryRunway} settlements`);
    else if (supply === 'low') this.log.warn(about, `a settler has coins for fewer than ${lowRunway} settlements`);
    else this.log.info(about, 'a settler has enough coins again');
  }
}

const gauges = [settlerBalance, settlerRunway, settlerSupply, openSettlements, oldestSettlement, refusedClients];

const supplyValues: Record<Supply, number> = { enough: 2, low: 1, dry: 0 };

function measure(report: SettlerReport): void {
  const { settlerId, chain, balance, open, oldestAt, runway, refusedClients: refused } = report;
  const labels = { chain, settler: settlerId };
  settlerBalance.set(labels, Number(balance));
  settlerSupply.set(labels, supplyValues[getSupply(report)]);
  if (runway !== null) settlerRunway.set(labels, Number(runway));
  openSettlements.set(labels, open);
  refusedClients.set(labels, refused);
  oldestSettlement.set(labels, oldestAt ? (Date.now() - oldestAt.getTime()) / 1000 : 0);
}
