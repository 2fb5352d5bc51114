import type { Client } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import type { NodeAnswer } from '../messages/journal';
import type { NodeIndex } from '../messages/nodes';
import { bindKeyAgainWorkflowId, workflowTypes } from '../messages/workflow-ids';
import type { NodeKeys } from '../mpc/identity';
import { verifyAttestation } from '../mpc/key-attestation';
import { askNodes } from '../orders/ask-nodes';
import { GatewayError, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { WalletEntity } from '../wallets/entity';
import { auditedOperation } from './audited-operation';

/** `bound`: the node has signed that the key is this wallet's. `not bound`: `detail` says why, as far as it is known. */
export interface NodeBinding {
  node: NodeIndex;
  state: 'bound' | 'not bound';
  detail: string | null;
}

interface BindKeyDependencies {
  database: DataSource;
  temporal: Client;
  nodeKeys: NodeKeys;
}

/**
 * Has each node bind the wallet's key to it again, which changes nothing where it is bound. A node that is down is no error, and the others
 * bind it. @throws GatewayError not_found; business_error for a wallet without a key.
 */
export async function bindKeyAgain(
  { database, temporal, nodeKeys }: BindKeyDependencies,
  walletId: string,
): Promise<NodeBinding[]> {
  const wallet = isUuid(walletId) ? await database.manager.findOneBy(WalletEntity, { walletId }) : null;
  if (!wallet) throw notFound(`wallet ${walletId}`);
  const { keyId, clientId } = wallet;
  if (!keyId) throw new GatewayError('business_error', 'The wallet has no key yet');
  const subject = { type: 'wallet', id: walletId };
  const event = { action: 'wallet.key_bound_again', clientId, subject, detail: { key_id: keyId } } as const;
  await auditedOperation(database, event, () => Promise.resolve());
  const question = { workflowType: workflowTypes.bindKeyAgain, workflowId: bindKeyAgainWorkflowId(walletId) };
  const answers = await askNodes(temporal, { ...question, request: { walletId, keyId } });
  return answers.map((answer) => toBinding(answer, { walletId, keyId, clientId }, nodeKeys));
}

function toBinding(
  given: NodeAnswer,
  { walletId, keyId, clientId }: { walletId: string; keyId: string; clientId: string },
  nodeKeys: NodeKeys,
): NodeBinding {
  const { node } = given;
  if ('problem' in given) return { node, state: 'not bound', detail: given.problem };
  const said = verifyAttestation(given.answer, nodeKeys);
  const isBound = said?.node === node && said.key_id === keyId && said.wallet_id === walletId && said.client_id === clientId;
  return isBound ? { node, state: 'bound', detail: null } : { node, state: 'not bound', detail: 'the node has not signed that' };
}
