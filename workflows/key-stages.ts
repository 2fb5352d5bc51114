import { sleep } from '@temporalio/workflow';
import { ApplicationFailure } from '@temporalio/common';
import type { GroupKey, HeldKey, KeyAttestation } from '../src/messages/key-generation';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import { nodeActivities, signingPairs } from './activities';
import { toProblem } from './failures';
import type { WorkflowProgress } from './progress';

/** All three nodes take part in each generation of a wallet's key: begun at the same one, they wait there for each other. */
export const generatingNode: NodeIndex = 1;
/** A generation takes about 11 CPU seconds over three nodes, and waits at its initiator for those before it. */
export const generationSeconds = 180;
const longestWaitSeconds = 30;
/** Rounds in which all nodes must confirm the key before it is dropped and a new one is generated. */
const confirmationRounds = 20;

/** An order of the authoriser; each use needs one of its own. */
type AskForOrder = () => Promise<{ order: string }>;

/**
 * A key as every node has stored it, and the wallets that nodes have bound it to. `progress`: of the run, which says what it waits for.
 * `rounds`: how often a node that is down is asked.
 * @throws ApplicationFailure when nodes hold different keys.
 */
export async function confirmOnEveryNode(
  progress: WorkflowProgress,
  keyId: string,
  rounds = confirmationRounds,
): Promise<{ key: GroupKey; boundTo: string[] }> {
  const held: HeldKey[] = [];
  for (const node of nodeIndexes)
    held.push(
      await untilUp(progress, () => nodeActivities(node, 10, `confirm key on node ${node}`).confirmKey({ keyId }), rounds),
    );
  const [{ publicKey, chainCode }] = held as [HeldKey];
  if (held.some((other) => other.publicKey !== publicKey || other.chainCode !== chainCode))
    throw unusable(`the nodes hold different keys as ${keyId}`);
  return { key: { keyId, publicKey, chainCode }, boundTo: held.flatMap(({ walletId }) => walletId ?? []) };
}

/** A key that the workflow gives up. */
export const unusable = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ type: 'business_error', message, nonRetryable: true });

/** Test signatures; two pairs suffice for three shares. */
export async function signWithEveryShare(progress: WorkflowProgress, orderGeneration: AskForOrder): Promise<void> {
  for (const { initiator, peer } of signingPairs.slice(0, 2)) {
    await untilUp(progress, async () => {
      const { order } = await progress.askAuthoriser('order a test signature', orderGeneration);
      await nodeActivities(initiator, 20, `test signature, nodes ${initiator} and ${peer}`).testSign({ order, peer });
    });
  }
}

/** Each node binds the key to its owner, and attests that. */
export async function bindOnEveryNode(progress: WorkflowProgress, orderBinding: AskForOrder): Promise<KeyAttestation[]> {
  const attestations: KeyAttestation[] = [];
  for (const node of nodeIndexes) {
    const { attestation } = await untilUp(progress, async () => {
      const { order } = await progress.askAuthoriser('order that a node binds the key', orderBinding);
      return nodeActivities(node, 10, `bind key on node ${node}`).bindKey({ order });
    });
    attestations.push(attestation);
  }
  return attestations;
}

/** Waits for a node that is down; gives up on errors that are not retryable. */
async function untilUp<T>(progress: WorkflowProgress, ask: () => Promise<T>, rounds = confirmationRounds): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await ask();
    } catch (error) {
      const { retryable, message } = toProblem(error);
      if (!retryable || round >= rounds) throw error;
      progress.waitsForNodes('all three', message);
      await pause(round);
    }
  }
}

/** Before another try: longer and longer. */
export const pause = (round: number): Promise<void> =>
  sleep(1000 * Math.min(2 ** Math.min(round, 6), longestWaitSeconds), { summary: 'then the signing nodes are asked again' });
