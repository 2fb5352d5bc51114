import type { AlertName } from './alert-names';
import { setBounded } from './bounded';
import type { Logger } from './logging';

/** About 200 bytes each. */
const maxRemembered = 10_000;

/** Alarms that are logged once for a subject and process, since whoever meets the fault meets it again and again. */
export class Alarms {
  private readonly raised = new Map<string, true>();

  constructor(private readonly log: Pick<Logger, 'error'>) {}

  /** `facts`: what is logged with the reason. */
  raise(subject: string, facts: { alert: AlertName } & Record<string, string | null>, reason: string): void {
    const name = `${facts.alert} ${subject}`;
    if (this.raised.has(name)) return;
    setBounded(this.raised, name, true, maxRemembered);
    this.log.error(facts, reason);
  }
}
