import { CancellationScope, condition, log } from '@temporalio/workflow';
import type { BeginSigningResult, ChainActivities, PreparedFees } from '../../activities/types';
import type { Hex, PayloadKind } from '../../src/mpc/messages';
import type { FailureCode } from '../../src/platform/codes';
import { isCancelled, problemOf } from '../failures';
import { ledger, onChain, onNode, signingPairs, spread } from '../steps';
import type { TransferRun } from './run';

/** Thrown to leave the steps; `run.ended` says how. */
export class Ended extends Error {}

/** Thrown to leave the steps when the transfer is given up, by an operator or for a blacklisted destination; `release` is next. */
export class Released extends Error {}

/** Pairs tried before an operator is asked: with the waits below about an hour. */
const signingRounds = 120;
const signatureSeconds = 15;

type SigningRequest = Extract<BeginSigningResult, { outcome: 'begun' }>['request'];

/** The rules again, authoritatively: what the API saw may have changed meanwhile. What somebody has to approve waits for that. */
export async function screen(run: TransferRun): Promise<void> {
  for (let waited = false; ; waited = true) {
    run.live.at('screening');
    const verdict = await ledger.screenTransfer({ txId: run.txId });
    leaveIfEnded(run);
    if (verdict.allowed) {
      if (waited) run.live.status('PENDING');
      return;
    }
    if (verdict.code !== null) return endUnsigned(run, 'REJECTED', verdict.code, verdict.reason);
    run.live.status('AWAITING_APPROVAL');
    run.live.at('awaiting approval', 'Not on the whitelist: somebody has to approve it, POST /transactions/{tx_id}/approve');
    // the database's clock decides: should the timer be early, the rest is waited for
    await run.approval(Math.max(verdict.waitMs, 1000));
    leaveIfEnded(run);
  }
}

/**
 * Fees, nonce, signature, signed bytes on record, broadcast: in this order, so that a crash anywhere leaves enough to
 * go on. Returns false when a replacement is not possible within the fee bound; a first attempt ends the transfer then, and
 * a no-op is for the operator again. A destination that is blacklisted meanwhile refuses a first attempt, burns one that is
 * signed but not broadcast, and leaves what was broadcast to the chain: replacing it is the operator's decision.
 */
export async function signAndBroadcast(run: TransferRun, kind: PayloadKind): Promise<boolean> {
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
    if (kind === 'noop' && begun.code !== 'business_error') await parkUntilRetry(run, begun.code, begun.reason);
    return false;
  }
  run.attempt = attempt;
  // from here on nothing but no-ops is signed: whatever interrupts this one, confirm() goes on with the next
  if (kind === 'noop') run.submitted = true;
  if (begun.outcome === 'begun') {
    run.live.status('SIGNING');
    const signatures = await sign(run, begun.request);
    if (signatures) {
      await ledger.recordSigned({ txId: run.txId, attempt, signatures });
      await broadcast(run);
    }
  } else {
    await broadcast(run);
  }
  run.submitted = true;
  return true;
}

/**
 * A no-op on the transfer's nonce, so that those after it are not held up. What was executed meanwhile is settled instead;
 * an earlier attempt that is executed before the no-op too.
 */
export async function release(run: TransferRun): Promise<void> {
  run.releaseRequested = false;
  run.retryRequested = false;
  await signAndBroadcast(run, 'noop');
}

/** Until the compare-and-set into SIGNING nothing is signed, and a cancel ends the transfer at once. */
async function beginSigning(run: TransferRun, attempt: number, kind: PayloadKind): Promise<BeginSigningResult> {
  const begin = new CancellationScope();
  const cancelled = condition(() => run.ended !== undefined).then(() => begin.cancel());
  cancelled.catch(() => undefined);
  try {
    return await begin.run(async () => {
      run.live.at('preparing', `Gas and fees on ${run.transfer.chain}`, attempt);
      const noop = kind === 'noop' ? { kind } : {};
      const fees = await prepareFees(run, { txId: run.txId, attempt, ...noop });
      run.live.at('signing', 'Taking the nonce', attempt);
      return ledger.beginSigning({ txId: run.txId, attempt, fees, ...noop });
    });
  } catch (error) {
    if (run.ended && isCancelled(error)) throw new Ended();
    throw error;
  }
}

/** A chain that knows already that the transaction would fail ends a first attempt before anything is signed. */
async function prepareFees(run: TransferRun, input: Parameters<ChainActivities['prepareFees']>[0]): Promise<PreparedFees> {
  try {
    return await onChain(run.transfer.chain).prepareFees(input);
  } catch (error) {
    const problem = problemOf(error);
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
  const first = spread(run.txId, signingPairs.length);
  for (let round = 0; !run.sawInclusion; round += 1) {
    const pair = signingPairs[(first + round) % signingPairs.length];
    if (!pair) throw new Error('no signing pair');
    const { initiator, peer } = pair;
    try {
      run.live.at('signing', `Nodes ${initiator} and ${peer}`, round + 1);
      const summary = `sign attempt ${run.attempt}: nodes ${initiator} and ${peer}`;
      return (await onNode(initiator, signatureSeconds, summary).signTransaction({ ...request, peer })).signatures;
    } catch (error) {
      const problem = problemOf(error);
      log.warn('no signature from this pair', { txId: run.txId, initiator, peer, code: problem.code, reason: problem.message });
      const byBlacklist = problem.code === 'address_blacklisted' && request.kind === 'first';
      if (byBlacklist && (await ledger.destinationBlacklisted({ txId: run.txId }))) burn(run);
      if (!(problem.retryable || byBlacklist) || round >= signingRounds) {
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
  const chain = onChain(run.transfer.chain);
  for (let tries = 1; ; tries += 1) {
    run.live.at('broadcasting', '', run.attempt);
    const result = await chain.broadcast({ txId: run.txId, attempt: run.attempt });
    if (result.outcome === 'accepted') {
      const { status } = await ledger.markSubmitted({ txId: run.txId, attempt: run.attempt });
      run.live.status(status);
      return;
    }
    if (result.outcome === 'blacklisted') burn(run);
    const seen = await chain.observe({ txId: run.txId });
    if (seen.state !== 'absent' || tries > 1) return;
    await parkUntilRetry(run, 'broadcast_rejected', result.reason);
  }
}

/** Signed, not broadcast, and not to be: a no-op uses up the nonce, and nobody has to be asked. */
function burn(run: TransferRun): never {
  run.releaseRequested = true;
  throw new Released();
}

/** Parks the transfer in NEEDS_ATTENTION until an operator's `retry` or news from the chain. Nothing is unlocked. */
export async function parkUntilRetry(...parked: Parameters<typeof park>): Promise<void> {
  const [run] = parked;
  await park(...parked);
  if (run.releaseRequested) throw new Released();
}

/** The same for the outermost loop, which looks at `releaseRequested` itself. */
export async function park(run: TransferRun, code: FailureCode, reason: string, { releasable = true } = {}): Promise<void> {
  await ledger.markAttention({ txId: run.txId, code, reason });
  run.live.status('NEEDS_ATTENTION', code);
  run.live.at('needs attention', `${code}: ${reason}. Mend the cause, then send the update \`retry\`.`, run.attempt);
  await run.attention({ releasable });
  run.retryRequested = false;
}

/** Unlocks and ends a transfer of which nothing was signed. */
async function endUnsigned(run: TransferRun, status: 'REJECTED' | 'FAILED', code: FailureCode, reason: string): Promise<never> {
  const ended = await ledger.endTransfer({ txId: run.txId, status, code, reason });
  run.end({ status: ended.status, code, reason });
  throw new Ended();
}

function leaveIfEnded(run: TransferRun): void {
  if (run.ended) throw new Ended();
}
