import { continueAsNew, log, sleep, workflowInfo } from '@temporalio/workflow';
import type { GenerateKeyWorkflowInput, GroupKey, KeyAttestation, WalletKey } from '../src/messages/key-generation';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import { toProblem } from './failures';
import { WorkflowProgress } from './progress';
import { authoriserActivities, walletActivities, nodeActivities, signingPairs, stableIndex } from './activities';

/** A generation takes about 11 CPU seconds over three nodes, more with concurrent ones. */
const generationSeconds = 180;
const longestWaitSeconds = 30;
/** Rounds in which all nodes must confirm the key before it is dropped and a new one is generated. */
const confirmationRounds = 20;

/**
 * Generates a wallet's key. The wallet becomes ACTIVE only when all three nodes have stored their share durably, report the same public
 * key, have signed with it, have bound it to the wallet and have attested that. A failed generation is dropped and repeated with a new key id, without a
 * limit on time, unless another run has given the wallet a key: then there is no result, and keys of this run are never used.
 */
export async function generateKey({
  walletId,
  clientId,
  attemptsBefore = 0,
}: GenerateKeyWorkflowInput): Promise<GroupKey | null> {
  const progress = new WorkflowProgress(`Key of wallet ${walletId}`);
  for (let attempt = attemptsBefore + 1; ; attempt += 1) {
    const initiator = nodeIndexes[(stableIndex(walletId, nodeIndexes.length) + attempt) % nodeIndexes.length] as NodeIndex;
    try {
      progress.report('generating', `Distributed key generation, initiated by node ${initiator}`, attempt);
      const wanted = { walletId, keyId: `${walletId}.${attempt}` };
      const ordered = await orderUnlessActive(wanted);
      if (ordered === null) {
        progress.report('ended', 'Another run has given the wallet a key', attempt);
        return null;
      }
      const key = await nodeActivities(initiator, generationSeconds, `generate key, attempt ${attempt}`).generateKey(ordered);
      progress.report('confirming', 'Every node must have stored its share and report the same public key', attempt);
      await confirmOnEveryNode(key);
      progress.report('testing', 'Test signatures that use each share', attempt);
      await signWithEveryShare(wanted);
      progress.report('binding', 'Every node binds the key to the wallet', attempt);
      const attestations = await bindOnEveryNode(wanted);
      await walletActivities.activateWallet({ walletId, ...key, attestations });
      progress.report('active', key.publicKey, attempt);
      return key;
    } catch (error) {
      const problem = toProblem(error);
      log.warn('key generation will be tried again', { walletId, attempt, code: problem.code, reason: problem.message });
      progress.report('waiting', `${problem.message}; trying again`, attempt);
      await sleep(1000 * Math.min(2 ** Math.min(attempt - attemptsBefore, 6), longestWaitSeconds));
    }
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof generateKey>({ walletId, clientId, attemptsBefore: attempt });
    }
  }
}

/** null: the wallet has a key already. */
async function orderUnlessActive(wanted: WalletKey): Promise<{ order: string } | null> {
  try {
    return await authoriserActivities.orderKeyGeneration(wanted);
  } catch (error) {
    if (toProblem(error).code === 'business_error') return null;
    throw error;
  }
}

async function confirmOnEveryNode(key: GroupKey): Promise<void> {
  for (const node of nodeIndexes) {
    const held = await untilUp(() => nodeActivities(node, 10, `confirm key on node ${node}`).confirmKey({ keyId: key.keyId }));
    if (held.publicKey !== key.publicKey || held.chainCode !== key.chainCode) throw new Error(`node ${node} holds another key`);
  }
}

/** Two pairs suffice for three shares. */
async function signWithEveryShare(key: WalletKey): Promise<void> {
  for (const { initiator, peer } of signingPairs.slice(0, 2)) {
    await untilUp(async () => {
      const { order } = await authoriserActivities.orderKeyGeneration(key);
      await nodeActivities(initiator, 20, `test signature, nodes ${initiator} and ${peer}`).testSign({ order, peer });
    });
  }
}

async function bindOnEveryNode(key: WalletKey): Promise<KeyAttestation[]> {
  const attestations: KeyAttestation[] = [];
  for (const node of nodeIndexes) {
    const { attestation } = await untilUp(async () => {
      const { order } = await authoriserActivities.orderKeyBinding(key);
      return nodeActivities(node, 10, `bind key on node ${node}`).bindKey({ order });
    });
    attestations.push(attestation);
  }
  return attestations;
}

/** Waits for a node that is down; gives up on errors that are not retryable. */
async function untilUp<T>(ask: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!toProblem(error).retryable || round >= confirmationRounds) throw error;
      await sleep(1000 * Math.min(2 ** round, longestWaitSeconds));
    }
  }
}
