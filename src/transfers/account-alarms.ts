import type { ReservationOwner } from '../chains/family';
import type { AlertLog } from '../ledger/accounts';
import { setBounded } from '../platform/bounded';

const maxRaised = 10_000;

/** Alarms about accounts: each once for an account and process, since whoever waits asks again for an hour. */
export class AccountAlarms {
  private readonly raised = new Map<string, true>();

  constructor(private readonly log: AlertLog) {}

  raise(alert: string, { chain, accountId }: Pick<ReservationOwner, 'chain' | 'accountId'>, reason: string): void {
    const subject = `${alert} ${chain} ${accountId}`;
    if (this.raised.has(subject)) return;
    setBounded(this.raised, subject, true, maxRaised);
    this.log.error({ alert, chain, account_id: accountId }, reason);
  }
}
