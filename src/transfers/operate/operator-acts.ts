import { createHash } from 'node:crypto';
import { audit, type AuditActor, type AuditEvent } from '../../audit/log';
import type { OperatorAct } from '../../messages/transfer';
import { findTransaction } from '../../transactions/state';
import type { TransferDependencies } from '../dependencies';

/** Whoever has acted in the Temporal UI, or by another client of Temporal: Temporal tells workflows no name, and verifies none. */
const inTemporal: AuditActor = { type: 'operator', id: 'temporal' };

/**
 * Id of the audit row of an act that is an update of the workflow, from the update's own id: the command line, which knows the operator,
 * writes the row before, and the workflow only where there is none. A UUID of version 8 (RFC 9562).
 */
export function operatorActId({ txId, act, actId }: OperatorAct): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(['operator act 1', txId, act, actId]))
    .digest();
  digest[6] = 0x80 | (digest.readUInt8(6) & 0x0f);
  digest[8] = 0x80 | (digest.readUInt8(8) & 0x3f);
  const hex = digest.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

const events: Record<OperatorAct['act'], Pick<AuditEvent, 'action' | 'outcome' | 'detail'>> = {
  retry: { action: 'transfer.retried', outcome: 'success' },
  abandon: { action: 'transfer.abandoned', outcome: 'success' },
  cancel: {
    action: 'transfer.cancelled',
    outcome: 'refused',
    detail: { reason: 'The cancellation of a workflow in Temporal has no effect: clients cancel through the API' },
  },
};

type RecordDependencies = Pick<TransferDependencies, 'database' | 'findActIdentity'> & Partial<Pick<TransferDependencies, 'log'>>;

/**
 * Writes the audit row of an act that has reached the workflow, unless it is there already; with what its caller calls itself, as `stated_identity`,
 * where that is known: it is for people to read, and nothing decides by it.
 * @throws GatewayError not_found.
 */
export async function recordOperatorAct(deps: RecordDependencies, given: OperatorAct): Promise<void> {
  const { database, findActIdentity, log } = deps;
  const { txId, clientId, status } = await findTransaction(database.manager, given.txId);
  const { detail, ...event } = events[given.act];
  // the row is written whatever Temporal answers
  const identity = await findActIdentity?.(given).catch((err: unknown) => {
    log?.warn({ err, tx_id: txId, act: given.act }, 'who has acted in Temporal is not known: its history does not answer');
    return null;
  });
  await audit(database.manager, {
    ...event,
    auditId: operatorActId(given),
    actor: inTemporal,
    clientId,
    subject: { type: 'transaction', id: txId },
    detail: { status, ...detail, ...(identity && { stated_identity: identity }) },
  });
}
