import type { Hex, KeyProtocol } from '../chains/types';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import type { Admission, JournalEntry, Outcome } from './admission';
import { ProtocolError, type ProtocolErrorCode } from './protocol/engine';
import type { RunPermits } from './guarded-run';
import type { Session } from './session';
import type { SessionTask } from './session-task';
import type { SignedStatement } from './statement';

export interface SignatureWork {
  admission: Admission;
  entry: JournalEntry;
  protocol: KeyProtocol;
  /** Message rounds of the protocol. */
  rounds: number;
  /** @throws GatewayError key_peer_banned */
  assertNotBanned: () => Promise<void>;
  /** Runs the protocol in an agreed session; waits for the permission of each message. */
  sign: (session: Session, permits: RunPermits) => Promise<Hex>;
  /** Whether it is a signature over the entry's digest by its key. */
  isValid: (signature: Hex) => boolean;
  dispose: () => void;
  logger: Logger;
}

/** A signature that the journal has admitted, as a task of a session. Whatever happens, the journal is told how the session ended. */
export function signatureTask({
  admission,
  entry,
  protocol,
  rounds,
  assertNotBanned,
  sign,
  isValid,
  dispose,
  logger,
}: SignatureWork): SessionTask<Hex> {
  const { keyId, peer, initiator } = entry.request;
  let copy: SignedStatement | undefined;
  let isFinished = false;
  let isShareUsed = false;
  const finish = async (outcome: Outcome, signature: Hex | null, session: Session | null): Promise<void> => {
    isFinished = true;
    await admission.finish(entry, { outcome, signature, session: session?.id ?? null, copy });
  };
  const notStored = (error: unknown): void =>
    logger.error({ err: error, entry: entry.number }, 'the end of a session was not stored in the journal');
  return {
    protocol,
    keyId,
    statement: entry.statement,
    onStatement: (statement) => {
      admission.assertCopy(statement, entry.request);
      copy = statement;
    },
    run: async (session) => {
      try {
        // the initiator's entry is checked and stored by `admit`
        if (peer !== initiator && !copy) throw new GatewayError('signers_unavailable', `node ${peer} has sent no journal entry`);
        // durable before this node's first message: the peer counts nothing if it fails
        const begun = admission.begin(entry);
        begun.catch(() => undefined);
        const permit = async () => {
          if (!entry.isUnfrozen) await assertNotBanned();
          // nothing is sent in a session that has ended meanwhile
          session.assertRunning();
          isShareUsed = true;
        };
        const signature = await sign(session, { begun, permit });
        await finish('signed', signature, session);
        return signature;
      } catch (error) {
        const outcome = isShareUsed ? toOutcome(error, session, rounds) : 'not_begun';
        if (!isFinished) await finish(outcome, null, session).catch(notStored);
        throw error;
      }
    },
    adopt: async (recorded) => {
      if (!isValid(recorded))
        throw new GatewayError('signers_unavailable', `node ${peer} has answered with a signature that does not verify`);
      await finish('signed', recorded, null);
      return recorded;
    },
    dispose: () => {
      dispose();
      if (!isFinished) void finish('not_begun', null, null).catch(notStored);
    },
  };
}

/** Failures of this node's own threads. */
const ownFailures: readonly ProtocolErrorCode[] = ['crashed', 'busy'];

/**
 * What a session without a signature says about the peer, after this node has sent something that depends on its share; a session that
 * ends before that tells the peer nothing and counts nothing, whatever ended it. The peer may have learnt something where this node
 * refused one of its messages, where it ended the session after this node had answered, and where it withheld its last message; the
 * latter two can also come of this node being late, and then say nothing about the peer. A peer that becomes silent before that has
 * learnt no more than from a session that succeeds.
 */
function toOutcome(error: unknown, session: Session, rounds: number): Outcome {
  if (error instanceof ProtocolError && !session.isStopped) return ownFailures.includes(error.code) ? 'stopped' : 'failed';
  if (session.isStopped || session.isLateHere) return 'stopped';
  const isLastMissing = session.received >= rounds - 1;
  return session.isAbortedByPeer || isLastMissing ? 'failed' : 'silent';
}
