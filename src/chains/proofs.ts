import { setBounded } from '../platform/bounded';
import type { ImpossibleProof } from './chain-client';

const limit = 1_000;

/** Proofs that were found, by a name of the attempt: they hold for ever, and finding one again takes many requests. */
export class Proofs {
  private readonly known = new Map<string, ImpossibleProof>();

  find(key: string): ImpossibleProof | undefined {
    return this.known.get(key);
  }

  add(key: string, proof: ImpossibleProof): void {
    setBounded(this.known, key, proof, limit);
  }
}

/** A proof that every one of so many configured endpoints has shown. */
export const withAgreement = (proof: ImpossibleProof, endpoints: number): ImpossibleProof =>
  endpoints > 1 ? { ...proof, agreed_by: endpoints } : proof;

/** What an endpoint says of a proof; `early`: it has not come so far. */
export type ShownProof = 'same' | 'early' | 'other';

/** Asks every configured endpoint at once, as EndpointList.each does: null of one that does not answer. */
export interface AskEach<E> {
  each<T>(work: (endpoint: E) => Promise<T>): Promise<(T | null)[]>;
}

/** What all configured endpoints together say of a proof. One that does not answer counts as `other`: it has not shown the proof. */
export async function compareProofs<E>(endpoints: AskEach<E>, show: (endpoint: E) => Promise<ShownProof>): Promise<ShownProof> {
  const shown = await endpoints.each(show);
  if (shown.every((said) => said === 'same')) return 'same';
  return shown.every((said) => said === 'same' || said === 'early') ? 'early' : 'other';
}
