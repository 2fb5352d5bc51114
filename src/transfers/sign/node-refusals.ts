import Joi from 'joi';
import type { EntityManager } from 'typeorm';
import type { NodeRefusals } from '../../messages/authoriser';
import { nodeIndexes, quorum } from '../../messages/nodes';
import type { SignedRefusal } from '../../messages/signing';
import type { NodeKeys } from '../../mpc/identity';
import { maxRefusalLength, readRefusal, type RefusalFields } from '../../mpc/policy-refusal';
import { wireStatementSchema } from '../../mpc/statement';
import { inTransaction } from '../../platform/database';
import { reader } from '../../platform/untrusted';
import { findTransactionForUpdate, isEnded } from '../../transactions/state';
import type { Attempts } from '../attempts';
import { loadAttempts } from '../load-attempts';
import { recordPolicyReason } from '../operate/cancellation-reason';
import type { AuthoriserDependencies } from '../dependencies';
import { auditSigningRefused } from './signing-audit';

/** With so many nodes refusing, no two that sign are left. */
const decisiveRefusals = nodeIndexes.length - quorum + 1;

const schema = Joi.object<NodeRefusals, true>({
  txId: Joi.string().uuid().required(),
  refusals: Joi.array()
    .items(wireStatementSchema.keys({ text: Joi.string().max(maxRefusalLength).required() }))
    .min(decisiveRefusals)
    .max(nodeIndexes.length)
    .required(),
}).required();
const read = reader(schema);

/**
 * Gives a transfer up because the limits of two nodes do not allow its first attempt. The nodes' signatures are the evidence, not the
 * word of the caller; they are kept, and read again when the cancellation is ordered. Repeating it has no effect.
 * @throws GatewayError invalid_parameter, not_found.
 */
export function recordNodeRefusals(deps: AuthoriserDependencies, input: unknown): Promise<{ accepted: boolean }> {
  const { txId, refusals } = read(input);
  return inTransaction(deps.database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    const attempts = await loadAttempts(manager, txId);
    const proven = decisive(txId, attempts, refusals, deps.nodeKeys);
    if (isEnded(transfer) || proven === null || attempts.last?.signed) return { accepted: false };
    for (const [{ attempt, node, reason }, { text, signature }] of proven) {
      const stored = await manager.query<unknown[]>(
        `insert into node_refusals (tx_id, attempt, node, statement, signature) values ($1, $2, $3, $4, $5) on conflict do nothing
         returning node`,
        [txId, attempt, node, text, signature],
      );
      if (stored.length > 0) await auditSigningRefused(manager, transfer, { code: 'node_policy', reason, node, attempt });
    }
    const reasons = [...proven.keys()].map(({ node, reason }) => `node ${node}: ${reason}`);
    await recordPolicyReason(manager, transfer, reasons.join('; '));
    return { accepted: true };
  });
}

/** Whether the limits of two nodes, by their signatures on record, are a reason to cancel. */
export async function isRefusedByNodes(
  manager: EntityManager,
  txId: string,
  attempts: Attempts,
  keys: NodeKeys,
): Promise<boolean> {
  const stored = await manager.query<SignedRefusal[]>('select statement as text, signature from node_refusals where tx_id = $1', [
    txId,
  ]);
  return decisive(txId, attempts, stored, keys) !== null;
}

/** Refusals of the only attempt, each with what it says, by enough nodes; null otherwise. */
function decisive(
  txId: string,
  { last }: Attempts,
  refusals: SignedRefusal[],
  keys: NodeKeys,
): Map<RefusalFields, SignedRefusal> | null {
  if (last?.kind !== 'first') return null;
  const proven = new Map<RefusalFields, SignedRefusal>();
  for (const refusal of refusals) {
    const fields = readRefusal(refusal, keys);
    if (fields?.tx_id === txId && fields.attempt === last.attempt && fields.kind === 'first') proven.set(fields, refusal);
  }
  const nodes = new Set([...proven.keys()].map(({ node }) => node));
  return nodes.size >= decisiveRefusals ? proven : null;
}
