import { CancellationScope, condition, log, sleep } from '@temporalio/workflow';
import type { AttemptKind, Hex } from '../../src/chains/types';
import type { BeginSigningResult, NextAttempt, Prepared } from '../../src/messages/transfer';
import { isCancelled, toProblem } from '../failures';
import { transferActivities, chainActivities, nodeActivities, signingPairs, stableIndex } from '../activities';
import { burn, Ended, endUnsigned, parkUntilRetry } from './leaving';
import type { TransferRun } from './run';

/** Pairs tried before an operator is asked: with the waits below about an hour. */
const signingRounds = 120;
const signatureSeconds = 15;

/** Between two tries to reserve what is taken for the time being. */
const waitMs = 5_000;

type Begun = Exclude<BeginSigningResult, { outcome: 'wait' }>;
type SigningRequest = Extract<BeginSigningResult, { outcome: 'begun' }>['request'];

/**
 * Fees, nonce, signature, signed bytes on record, broadcast: in this order, so that a crash anywhere leaves enough to
 * go on. Returns false when a replacement is not possible within the fee bound; a first attempt ends the transfer then, and
 * a cancellation is for the operator again. A destination that is blacklisted meanwhile refuses a first attempt, burns one that is
 * signed but not broadcast, and leaves what was broadcast to the chain: replacing it is the operator's decision.
 */
export async function signAndBroadcast(run: TransferRun, kind: AttemptKind): Promise<boolean> {
  const attempt = kind === 'first' ? 1 : run.attempt + 1;
  const begun = await beginSigning(run, attempt, kind);
  if (begun.outcome === 'ended') {
    run.end({ status: begun.status, code: null, reason: null });
    throw new Ended();
  }
  if (begun.outcome === 'refused') {
    const blacklisted = begun.code === 'address_blacklisted';
    if (kind === 'first') await endUnsigned(run, blacklisted ? 'REJECTED' : 'FAILED', begun.code, begun.reason);
    if (kind === 'replacement' && blacklisted) {
      await parkUntilRetry(run, begun.code, `${begun.reason}: it is not sent again at a higher fee`);
      return true;
    }
    if (kind === 'cancellation' && begun.code !== 'business_error') await parkUntilRetry(run, begun.code, begun.reason);
    return false;
  }
  run.attempt = attempt;
  // from here on nothing but cancellations is signed: whatever interrupts this one, confirm() goes on with the next
  if (kind === 'cancellation') run.submitted = true;
  if (begun.outcome === 'begun') {
    run.live.status('SIGNING');
    const signatures = await sign(run, begun.request);
    if (signatures) {
      await transferActivities.recordSigned({ txId: run.txId, attempt, signatures });
      await broadcast(run);
    }
  } else {
    await broadcast(run);
  }
  run.submitted = true;
  return true;
}

/**
 * A cancellation on the transfer's nonce, so that those after it are not held up. What was executed meanwhile is settled instead;
 * an earlier attempt that is executed before the cancellation too.
 */
export async function release(run: TransferRun): Promise<void> {
  run.releaseRequested = false;
  run.retryRequested = false;
  await signAndBroadcast(run, 'cancellation');
}

/** Until the compare-and-set into SIGNING nothing is signed, and a cancel ends the transfer at once. */
async function beginSigning(run: TransferRun, attempt: number, kind: AttemptKind): Promise<Begun> {
  const begin = new CancellationScope();
  const cancelled = condition(() => run.ended !== undefined).then(() => begin.cancel());
  cancelled.catch(() => undefined);
  try {
    return await begin.run(async () => {
      run.live.at('preparing', `Gas and fees on ${run.transfer.chain}`, attempt);
      const next = { txId: run.txId, attempt, kind };
      for (;;) {
        const prepared = await prepareAttempt(run, next);
        run.live.at('signing', 'Reserving', attempt);
        const begun = await transferActivities.beginSigning({ ...next, prepared });
        if (begun.outcome !== 'wait') return begun;
        run.live.at('preparing', begun.reason, attempt);
        await sleep(waitMs);
      }
    });
  } catch (error) {
    if (run.ended && isCancelled(error)) throw new Ended();
    throw error;
  }
}

/** A chain that knows already that the transaction would fail ends a first attempt before anything is signed. */
async function prepareAttempt(run: TransferRun, input: NextAttempt): Promise<Prepared> {
  try {
    return await chainActivities(run.transfer.chain).prepareAttempt(input);
  } catch (error) {
    const problem = toProblem(error);
    if (isCancelled(error) || problem.retryable || input.attempt > 1) throw error;
    return endUnsigned(run, 'FAILED', problem.code, problem.message);
  }
}

/**
 * One activity per signature. A node that is down or a session that was aborted costs a new session with another pair;
 * what a node refuses on its merits is for an operator, since trying elsewhere would be asking until one agrees. But a first
 * attempt that it refuses for the blacklist is given up at once if the destination is blacklisted; if it is not any more, the
 * node is about to learn that. Undefined when the chain has meanwhile executed an earlier attempt: then no other is needed.
 */
async function sign(run: TransferRun, request: SigningRequest): Promise<Hex[] | undefined> {
  const first = stableIndex(run.txId, signingPairs.length);
  for (let round = 0; !run.sawInclusion; round += 1) {
    const pair = signingPairs[(first + round) % signingPairs.length];
    if (!pair) throw new Error('no signing pair');
    const { initiator, peer } = pair;
    try {
      run.live.at('signing', `Nodes ${initiator} and ${peer}`, round + 1);
      const summary = `sign attempt ${run.attempt}: nodes ${initiator} and ${peer}`;
      return (await nodeActivities(initiator, signatureSeconds, summary).signTransaction({ ...request, peer })).signatures;
    } catch (error) {
      const problem = toProblem(error);
      log.warn('no signature from this pair', { txId: run.txId, initiator, peer, code: problem.code, reason: problem.message });
      const byBlacklist = problem.code === 'address_blacklisted';
      const isListed = byBlacklist && (await transferActivities.destinationBlacklisted({ txId: run.txId }));
      if (isListed && request.kind === 'first') burn(run);
      const elsewhere = problem.retryable || (byBlacklist && !isListed);
      if (!elsewhere || round >= signingRounds) {
        await parkUntilRetry(run, problem.retryable ? 'signers_unavailable' : problem.code, problem.message);
        round = -1;
      } else if (round % signingPairs.length === signingPairs.length - 1) {
        run.live.at('signing', `Waiting for two signing nodes: ${problem.message}`, round + 1);
        await condition(() => run.sawInclusion, Math.min(1000 * 2 ** Math.floor(round / signingPairs.length), 30_000));
      }
    }
  }
  return undefined;
}

/**
 * The signed bytes are on record: broadcasting again is harmless, and only an accepted one counts as submitted. A node
 * that refuses may do so because an attempt was executed already, so the chain is asked before anybody is troubled.
 * Bytes that are refused after a retry too are left to confirm(), which replaces them at the fees of then. The activity looks at
 * the blacklist each time it is tried, so that no outage of the chain lies between that and the broadcast.
 */
async function broadcast(run: TransferRun): Promise<void> {
  const chain = chainActivities(run.transfer.chain);
  for (let tries = 1; ; tries += 1) {
    run.live.at('broadcasting', '', run.attempt);
    const result = await chain.broadcast({ txId: run.txId, attempt: run.attempt });
    if (result.outcome === 'accepted') {
      const { status } = await transferActivities.markSubmitted({ txId: run.txId, attempt: run.attempt });
      run.live.status(status);
      return;
    }
    if (result.outcome === 'withheld' || (result.outcome === 'blacklisted' && run.attempt === 1)) burn(run);
    if (result.outcome === 'blacklisted') {
      return parkUntilRetry(run, 'address_blacklisted', 'The destination was blacklisted before its replacement was sent');
    }
    const seen = await chain.observe({ txId: run.txId });
    if (seen.state !== 'absent' || tries > 1) return;
    await parkUntilRetry(run, 'broadcast_rejected', result.reason);
  }
}
