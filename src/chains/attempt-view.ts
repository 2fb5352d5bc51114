import type { AttemptStatus } from './chain-client';

/** What one endpoint shows of the attempts of a transfer. */
export interface AttemptView {
  states: AttemptStatus[];
  /** False where the endpoint lacks blocks that a proof may need: another one may have them. */
  isConclusive: boolean;
}

/** Runs a piece of work at one endpoint after the other, as EndpointList.run does. */
type RunAtEndpoints<E> = <T>(work: (endpoint: E) => Promise<T>) => Promise<T>;

/** The first view that is conclusive, or else the first one, which then proves nothing. @throws as `run` when no endpoint answers. */
export async function firstConclusive<E>(
  run: RunAtEndpoints<E>,
  look: (endpoint: E) => Promise<AttemptView>,
): Promise<AttemptStatus[]> {
  const inconclusive: AttemptView[] = [];
  try {
    return await run(async (endpoint) => {
      const view = await look(endpoint);
      if (view.isConclusive) return view.states;
      inconclusive.push(view);
      throw new Error('it lacks blocks that a proof needs');
    });
  } catch (error) {
    const [first] = inconclusive;
    if (first) return first.states;
    throw error;
  }
}
