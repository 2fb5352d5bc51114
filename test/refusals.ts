import type { DataSource } from 'typeorm';
import { recordRefusal, type Refusal } from '../src/transfers/end/refusals';

/** A refusal on record, as the step that refuses an attempt leaves it. `attempt`: which is not begun; default: the first. */
export const refuseAttempt = (
  { manager }: DataSource,
  { txId, attempt = 1 }: { txId: string; attempt?: number },
  { kind = 'order', code = 'stuck', reason = 'test' }: Partial<Refusal> = {},
): Promise<void> => recordRefusal(manager, { txId, attempt }, { kind, code, reason });
