import { gatewayQuery } from '../adversary/processes';
import { call } from '../e2e/support';
import { gapOf, type GapName } from './gaps';
import type { Held } from './holds';
import type { InGap, Scene } from './scene';

interface Row {
  status: string;
  /** Its first attempt. */
  signed: boolean;
  broadcast: boolean;
  included: boolean;
}

/** How a transfer looks in a gap without a hold in the gateway's database. */
const looks: Partial<Record<GapName, (row: Row) => boolean>> = {
  'screen: an approval is waited for': ({ status }) => status === 'AWAITING_APPROVAL',
  'broadcast: send': ({ status, signed, broadcast }) => status === 'SIGNING' && signed && !broadcast,
  'prepare: prepareAttempt': ({ status }) => status === 'PENDING',
  'confirm: a block is waited for': ({ status, included }) => status === 'SUBMITTED' && !included,
};
/** Gaps in which a paused chain is asked, with what the workflow says of itself there. */
const asking: Partial<Record<GapName, string>> = {
  'prepare: prepareAttempt': 'prepare',
  'broadcast: send': 'broadcast',
};

/** Which of these are not in their gap now, and where they are instead. They are asked in an order in which none can have gone on. */
export async function notInGap(scene: Scene, transfers: readonly InGap[]): Promise<string[]> {
  const elsewhere = await Promise.all(transfers.filter(({ name }) => looks[name]).map(stateProblem));
  const held = transfers.flatMap(({ name, account, to }): (Held & { name: GapName })[] => {
    const { at: step } = gapOf(name);
    return step ? [{ name, step, address: step === 'screenTransfer' ? to : account.address }] : [];
  });
  const passed = (await scene.holds.notReached(held)).map(({ name }) => `${name}: nobody waits there`);
  const isSigning = transfers.every(({ name }) => name !== 'sign: signTransaction') || (await scene.nodes.waiting());
  return [...elsewhere.flat(), ...passed, ...(isSigning ? [] : ['sign: signTransaction: no node waits there'])];
}

async function stateProblem({ name, submission }: InGap): Promise<string[]> {
  const { txId } = await submission;
  const [row] = await gatewayQuery<Row>(
    `select t.status, coalesce(a.signed is not null, false) as signed, coalesce(a.broadcast_at is not null, false) as broadcast,
            coalesce(a.block_number is not null, false) as included
       from transactions t left join transfer_attempts a on a.tx_id = t.tx_id and a.attempt = 1 where t.tx_id = $1`,
    [txId],
  );
  if (!row || !looks[name]?.(row)) return [`${name}: ${JSON.stringify(row)}`];
  if (asking[name] === undefined) return [];
  const { body } = await call('GET', `/transactions/${txId}`);
  const step = (body.live as { step?: string } | null)?.step;
  return step === asking[name] ? [] : [`${name}: its workflow is at ${step ?? 'an unknown step'}`];
}
