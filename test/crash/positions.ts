import { setTimeout as delay } from 'node:timers/promises';
import { gatewayQuery } from '../adversary/processes';
import { call } from '../e2e/support';
import type { SeenRow } from './gap';
import { gapOf } from './gaps';
import { heldOf, type InGap, reachMs, type Scene } from './scene';

/** Resolves while all of these are in their gap. @throws Error naming the gaps whose transfers are elsewhere. */
export async function allInGap(scene: Scene, transfers: readonly InGap[]): Promise<void> {
  for (const until = Date.now() + reachMs; ; await delay(30)) {
    const elsewhere = await notInGap(scene, transfers);
    if (elsewhere.length === 0) return;
    if (Date.now() > until) throw new Error(`not reached within ${reachMs} ms: ${elsewhere.join('; ')}`);
  }
}

/** Which of these are not in their gap now, and where they are instead. They are asked in an order in which none can have gone on. */
async function notInGap(scene: Scene, transfers: readonly InGap[]): Promise<string[]> {
  const elsewhere = await Promise.all(transfers.map(stateProblems));
  const held = transfers.flatMap((transfer) => heldOf(transfer) ?? []);
  const passed = (await scene.holds.notReached(held)).map(({ gap }) => `${gap}: nobody waits there`);
  const journaled = transfers.filter(({ name }) => gapOf(name).at === 'journal entry of a node');
  const isSigning = journaled.length === 0 || (await scene.nodes.waiting());
  return [...elsewhere.flat(), ...passed, ...(isSigning ? [] : journaled.map(({ name }) => `${name}: no node waits there`))];
}

async function stateProblems({ name, submission }: InGap): Promise<string[]> {
  const { at: seen } = gapOf(name);
  if (typeof seen === 'string' || !('row' in seen)) return [];
  const { txId } = await submission;
  const [row] = await gatewayQuery<SeenRow>(
    `select t.status, coalesce(a.signed is not null, false) as signed, coalesce(a.broadcast_at is not null, false) as broadcast,
            coalesce(a.block_number is not null, false) as included
       from transactions t left join transfer_attempts a on a.tx_id = t.tx_id and a.attempt = 1 where t.tx_id = $1`,
    [txId],
  );
  if (!row || !seen.row(row)) return [`${name}: ${JSON.stringify(row)}`];
  if (seen.step === undefined) return [];
  const { body } = await call('GET', `/transactions/${txId}`);
  const step = (body.live as { step?: string } | null)?.step;
  return step === seen.step ? [] : [`${name}: its workflow is at ${step ?? 'an unknown step'}`];
}
