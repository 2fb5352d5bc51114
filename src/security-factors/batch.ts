import type { IdempotencyContext } from '../http/context';
import { runItems } from '../mfa/batch';
import type { MfaRequest } from '../mfa/service';
import { newId } from '../platform/ids';
import type { Logger } from '../platform/logging';
import { presentBatch } from './presenter';
import type { BatchView, NewEntry } from './schema';
import { alreadyExists, type SecurityFactorService } from './service';

export interface BatchDependencies {
  factors: SecurityFactorService;
  log: Logger;
}

export interface FactorChanges {
  remove: string[];
  add: NewEntry[];
}

/** Several changes of a client's lists with one code. */
export class SecurityFactorBatches {
  constructor(private readonly deps: BatchDependencies) {}

  /**
   * Removes entries and adds others, each for itself: one that is refused keeps no other from being carried out. All of them, the use of the
   * code and the stored answer are one database transaction.
   * @throws GatewayError as MfaService.authorize, unavailable: nothing is changed then, unless the outcome is unknown;
   * SECURITY_FACTOR_ALREADY_EXISTS when the same code has made the same additions before.
   */
  async change(
    request: MfaRequest,
    { storeAnswer }: Pick<IdempotencyContext, 'storeAnswer'>,
    { remove, add }: FactorChanges,
  ): Promise<BatchView> {
    const { factors, log } = this.deps;
    return factors.authorize(
      request,
      async (manager) => {
        const removed = await runItems(manager, remove, (nested, id) => factors.removeWithin(nested, request, id), log);
        const added = await runItems(manager, add, (nested, entry) => factors.addWithin(nested, request, newId(), entry), log);
        const body = presentBatch({ removed, added });
        await storeAnswer(manager, { body });
        return body;
      },
      async (manager) => {
        const listed = await factors.findListed(manager, request, add);
        if (listed) throw alreadyExists(listed.chain);
      },
    );
  }
}
