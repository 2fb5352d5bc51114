import { sleep } from '@temporalio/workflow';
import type { GroupKey, KeyAhead, KeyAttestation } from '../src/messages/key-generation';
import { nodeIndexes } from '../src/messages/nodes';
import { nodeActivities, signingPairs } from './activities';
import { toProblem } from './failures';

/** A generation takes about 11 CPU seconds over three nodes, and waits at its initiator for those before it. */
export const generationSeconds = 180;
const longestWaitSeconds = 30;
/** Rounds in which all nodes must confirm the key before it is dropped and a new one is generated. */
const confirmationRounds = 20;

/** An order of the authoriser; each use needs one of its own. */
type AskForOrder = () => Promise<{ order: string }>;

/** A key that was generated before, as a node has it; every other one reports the same. */
export async function confirmAgain({ keyId }: KeyAhead): Promise<GroupKey> {
  const key = await untilUp(() => nodeActivities(1, 10, 'confirm key on node 1').confirmKey({ keyId }));
  await confirmOnEveryNode(key);
  return key;
}

/** Every node has stored its share and reports the same public key. */
export async function confirmOnEveryNode(key: GroupKey): Promise<void> {
  for (const node of nodeIndexes) {
    const held = await untilUp(() => nodeActivities(node, 10, `confirm key on node ${node}`).confirmKey({ keyId: key.keyId }));
    if (held.publicKey !== key.publicKey || held.chainCode !== key.chainCode) throw new Error(`node ${node} holds another key`);
  }
}

/** Test signatures; two pairs suffice for three shares. */
export async function signWithEveryShare(orderGeneration: AskForOrder): Promise<void> {
  for (const { initiator, peer } of signingPairs.slice(0, 2)) {
    await untilUp(async () => {
      const { order } = await orderGeneration();
      await nodeActivities(initiator, 20, `test signature, nodes ${initiator} and ${peer}`).testSign({ order, peer });
    });
  }
}

/** Each node binds the key to its owner, and attests that. */
export async function bindOnEveryNode(orderBinding: AskForOrder): Promise<KeyAttestation[]> {
  const attestations: KeyAttestation[] = [];
  for (const node of nodeIndexes) {
    const { attestation } = await untilUp(async () => {
      const { order } = await orderBinding();
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
