import type { Hex } from '../chains/types';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import type { Admission, JournalEntry, Outcome } from './admission';
import { ProtocolError, signRounds } from './protocol/engine';
import type { Session } from './session';
import type { SessionTask } from './session-manager';
import type { SignedStatement } from './statement';

export interface SignatureWork {
  admission: Admission;
  entry: JournalEntry;
  /** Runs the protocol in an agreed session. */
  sign: (session: Session) => Promise<Hex>;
  /** Whether it is a signature over the entry's digest by its key. */
  isValid: (signature: Hex) => boolean;
  dispose: () => void;
  logger: Logger;
}

/** A signature that the journal has admitted, as a task of a session: whatever happens, the entry learns how it ended. */
export function signatureTask({ admission, entry, sign, isValid, dispose, logger }: SignatureWork): SessionTask<Hex> {
  let copy: SignedStatement | undefined;
  let isFinished = false;
  const finish = async (outcome: Outcome, signature: Hex | null, session: Session | null): Promise<void> => {
    isFinished = true;
    await admission.finish(entry, { outcome, signature, session: session?.id ?? null, copy });
  };
  const notLearnt = (error: unknown): void =>
    logger.error({ err: error, entry: entry.number }, 'the journal did not learn how a session ended');
  return {
    keyId: entry.request.keyId,
    statement: entry.statement,
    onStatement: (statement) => {
      copy = statement;
    },
    run: async (session) => {
      try {
        await admission.begin(entry);
        const signature = await sign(session);
        await finish('signed', signature, session);
        return signature;
      } catch (error) {
        if (!isFinished) await finish(outcomeOf(error, session), null, session).catch(notLearnt);
        throw error;
      }
    },
    adopt: async (recorded) => {
      if (!isValid(recorded))
        throw new GatewayError('signers_unavailable', 'a peer has answered with a signature that does not verify');
      await finish('signed', recorded, null);
      return recorded;
    },
    dispose: () => {
      dispose();
      if (!isFinished) void finish('not_begun', null, null).catch(notLearnt);
    },
  };
}

/**
 * What a session without a signature says about the peer. It may have learnt something where this node refused a message of it, where
 * it ended the session after this node had answered, and where it kept its last message for itself. A peer that merely falls silent
 * before has learnt no more than a session that succeeds tells it.
 */
function outcomeOf(error: unknown, session: Session): Outcome {
  if (session.received === 0) return 'not_begun';
  const keptLastMessage = session.received >= signRounds - 1;
  return error instanceof ProtocolError || session.isAbortedByPeer || keptLastMessage ? 'failed' : 'silent';
}
