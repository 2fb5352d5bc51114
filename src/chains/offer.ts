import type { BroadcastOutcome } from './chain-client';

/** What an endpoint says about bytes that it was offered. `mayTakeElsewhere`: it refuses by its own view, so another one may take them. */
export type Offered =
  { outcome: 'accepted' } | (Exclude<BroadcastOutcome, { outcome: 'accepted' }> & { mayTakeElsewhere: boolean });

interface Endpoints<E> {
  run<T>(work: (endpoint: E) => Promise<T>): Promise<T>;
}

/**
 * Offers signed bytes to one endpoint after the other. A refusal counts at once where every node would refuse, else where no other one
 * takes them: then one that is waited for counts before another, and among these one whose words are known.
 * @throws what `endpoints.run` throws when no endpoint has said anything.
 */
export async function offer<E>(endpoints: Endpoints<E>, send: (endpoint: E) => Promise<Offered>): Promise<BroadcastOutcome> {
  const refusals: BroadcastOutcome[] = [];
  try {
    return await endpoints.run(async (endpoint) => {
      const said = await send(endpoint);
      if (said.outcome === 'accepted') return said;
      const { mayTakeElsewhere, ...refusal } = said;
      if (!mayTakeElsewhere) return refusal;
      refusals.push(refusal);
      throw new Error(refusal.reason);
    });
  } catch (error) {
    const waiting = refusals.filter((refusal) => refusal.outcome === 'waiting');
    const refusal = waiting.find(({ passing }) => passing !== 'unknown') ?? waiting[0] ?? refusals[0];
    if (refusal) return refusal;
    throw error;
  }
}
