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
