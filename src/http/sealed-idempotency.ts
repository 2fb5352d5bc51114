import type { EntityManager } from 'typeorm';
import type { SecretBox } from '../platform/secret-box';
import type { Claim, ClaimResult, IdempotencyStore, StoredAnswer } from './idempotency-store';

/** Stores the responses of idempotent requests. */
export type AnswerStore = Pick<IdempotencyStore, 'claim' | 'finish' | 'forget' | 'release'>;

const toOwner = (clientId: string, key: string): string => `idempotency:${clientId}:${key}`;

/** The store for responses that contain a secret, or must not be changed: their bodies are encrypted and authenticated. */
export function sealedAnswers(store: AnswerStore, box: SecretBox): AnswerStore {
  return {
    async claim(clientId, key, fingerprint, freshId): Promise<ClaimResult> {
      const result = await store.claim(clientId, key, fingerprint, freshId);
      if (result.outcome !== 'answered') return result;
      const body = box.open(Buffer.from(result.answer.body, 'base64'), toOwner(clientId, key));
      return { outcome: 'answered', answer: { ...result.answer, body } };
    },
    finish: (claim: Claim, answer: StoredAnswer, manager?: EntityManager) => {
      const body = box.seal(answer.body, toOwner(claim.clientId, claim.key)).toString('base64');
      return store.finish(claim, { ...answer, body }, manager);
    },
    forget: (claim) => store.forget(claim),
    release: (claim) => store.release(claim),
  };
}
