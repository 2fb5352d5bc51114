import type { KeyObject } from 'node:crypto';
import type { FailureCode } from '../platform/codes';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import type { NodeIndex } from '../messages/nodes';
import type { Admission, AdmissionRequest, JournalEntry, SessionEnd } from './admission';
import { reasonOfFailures } from './ban';
import type { Bans } from './bans';
import { type Journal, maxFailedSessions, type Verdict } from './journal';
import { isPeerEntry } from './journal-entry';
import { type JournalGuard, journalIsBehind } from './journal-guard';
import type { JournalMark } from './journal-mark';
import { type NodeLimits, refusalBy } from './limits';
import type { PolicyRefusalLog } from './policy-refusal-log';
import { admissions, openEntries, policyRefusals, signatures } from './metrics';
import { hashStatement, type SignedStatement, toWire, verifyStatement } from './statement';

export interface NodeAdmissionOptions {
  self: NodeIndex;
  getPublicKey: (party: NodeIndex) => KeyObject;
  guard: JournalGuard;
  journal: Journal;
  bans: Bans;
  /** null: the operator has set none. */
  limits: NodeLimits | null;
  refusalLog: PolicyRefusalLog;
  mark: JournalMark;
  logger: Logger;
}

type Refused = Exclude<Verdict['verdict'], 'admitted' | 'unfrozen' | 'recorded' | 'behind' | 'refused'>;
const refusals: Record<Refused, { code: FailureCode; reason: string }> = {
  blacklisted: { code: 'address_blacklisted', reason: "the recipient is on this node's copy of the client's blacklist" },
  other_digests: {
    code: 'intent_mismatch',
    reason: 'digests: this attempt, or this message, was admitted with others or for another account before',
  },
  unrelated: { code: 'intent_mismatch', reason: 'resources: the attempt does not use up what the first one does' },
  unproven: {
    code: 'intent_mismatch',
    reason: 'earlier: the order does not name every other attempt of the transaction that this node has admitted',
  },
  banned: { code: 'key_peer_banned', reason: 'this node does not sign with that peer by this key any more' },
  busy: { code: 'signers_unavailable', reason: 'this node waits for its running sessions with that peer by this key' },
  exhausted: { code: 'signers_unavailable', reason: 'this node has begun too many sessions about this attempt with that peer' },
  key_limit: { code: 'node_policy', reason: 'the amounts of 24 hours for this key and token are above the highest allowed' },
  node_limit: { code: 'node_policy', reason: 'the amounts of 24 hours for this token are above the highest allowed' },
  key_fees: { code: 'node_policy', reason: 'the network fees of 24 hours for this key are above the highest allowed' },
  node_fees: { code: 'node_policy', reason: 'the network fees of 24 hours on this chain are above the highest allowed' },
};
/**
 * No try begins later than this after the first one: half the time that the peer waits for an answer to its proposal. A try itself may
 * wait for its turn.
 */
const busyMs = 1_000;
const busyPauseMs = 200;
/** Longer than any statement of an admission takes. */
const lostAfterMs = 60_000;
/** What an honest gateway never asks for. */
const alarming: readonly Refused[] = ['other_digests', 'unrelated', 'unproven'];

/** What this node lets be signed, by its own journal, its bans and its operator's limits. */
export class NodeAdmission implements Admission {
  /** Ends that the database has not taken, by entry: no more than there were sessions at once. Until then their entries count as open. */
  private readonly unstored = new Map<number, () => Promise<void>>();

  constructor(private readonly options: NodeAdmissionOptions) {}

  assertReady(): void {
    this.options.guard.assertReady();
  }

  async admit(request: AdmissionRequest, copy?: SignedStatement): Promise<{ recorded: `0x${string}` } | { entry: JournalEntry }> {
    const { self, guard, journal, limits, mark, logger } = this.options;
    for (const store of [...this.unstored.values()]) await store();
    guard.assertReady();
    if (copy) this.assertCopy(copy, request);
    else if (request.initiator !== self) throw new GatewayError('invalid_parameter', "the peer's journal entry is missing");
    const reason = refusalBy(limits, request);
    const sums = limits?.sums(request) ?? new Map();
    const verdict = await this.unlessBusy(() =>
      journal.admit(request, { sums, isRefused: reason !== null, marked: mark.known.entry?.number ?? null }, copy),
    );
    admissions.inc({ verdict: verdict.verdict });
    switch (verdict.verdict) {
      case 'recorded':
        logger.info(toLogFields(request), 'answered with the recorded signature');
        return { recorded: verdict.signature };
      case 'admitted':
      case 'unfrozen':
        openEntries.inc();
        return { entry: verdict.entry };
      case 'refused':
        throw await this.refuseByPolicy(request, reason ?? 'the limits of this node');
      case 'behind':
        guard.noticeLoss();
        throw journalIsBehind(self);
      default:
        throw await this.refusal(verdict.verdict, request);
    }
  }

  /** The other participant of a session may see its end, and ask for the next one, a moment before this node has stored it. */
  private async unlessBusy(admit: () => Promise<Verdict>): Promise<Verdict> {
    const lastAt = performance.now() + busyMs;
    for (let tries = 1; ; tries += 1) {
      const verdict = await admit();
      if (verdict.verdict !== 'busy' || performance.now() + busyPauseMs > lastAt) return verdict;
      if (tries === 1) await this.options.journal.closeInterrupted(lostAfterMs);
      await new Promise((resolve) => setTimeout(resolve, busyPauseMs));
    }
  }

  assertCopy(copy: SignedStatement, request: AdmissionRequest): void {
    const { self, getPublicKey } = this.options;
    if (!isPeerEntry(copy, self, request) || !verifyStatement('entry', copy, getPublicKey(request.peer)))
      throw new GatewayError('invalid_parameter', "the peer's journal entry is not about this signature");
  }

  begin({ number, statement }: JournalEntry): Promise<void> {
    return this.options.mark.raiseEntry(number, hashStatement(statement));
  }

  async finish(entry: JournalEntry, end: SessionEnd): Promise<void> {
    const { logger } = this.options;
    openEntries.dec();
    signatures.inc({ outcome: end.outcome });
    logger.info(
      { ...toLogFields(entry.request), entry: entry.number, outcome: end.outcome },
      'a session for a signature has ended',
    );
    try {
      await this.storeEnd(entry, end);
    } catch (error) {
      this.unstored.set(entry.number, () => this.storeEnd(entry, end));
      throw error;
    }
  }

  private async storeEnd(entry: JournalEntry, end: SessionEnd): Promise<void> {
    const { journal, bans, guard } = this.options;
    const { request } = entry;
    const failed = await journal.finish(entry, end);
    this.unstored.delete(entry.number);
    if (failed === null) guard.noticeLoss();
    else if (failed >= maxFailedSessions) await bans.ban(request.keyId, request.peer, reasonOfFailures(failed));
  }

  private async refusal(verdict: Refused, request: AdmissionRequest): Promise<GatewayError> {
    const { self, logger } = this.options;
    const { txId, attempt, keyId, peer, kind } = request;
    const { code, reason } = refusals[verdict];
    if (code === 'node_policy') return this.refuseByPolicy(request, reason);
    const context = { tx_id: txId, attempt, kind, key_id: keyId, peer, code };
    if (alarming.includes(verdict)) logger.error({ alert: 'journal_contradicted', ...context }, reason);
    else logger.warn(context, reason);
    return new GatewayError(code, `${reason} (node ${self})`, { extra: { node: String(self) } });
  }

  private async refuseByPolicy(request: AdmissionRequest, reason: string): Promise<GatewayError> {
    const { self, logger, refusalLog } = this.options;
    const { text, signature } = toWire(await refusalLog.record(request, reason));
    policyRefusals.inc();
    logger.warn(
      { tx_id: request.txId, attempt: request.attempt, key_id: request.keyId, reason },
      'refused by the limits of this node',
    );
    return new GatewayError('node_policy', `${reason} (node ${self})`, {
      extra: { node: String(self), refusal: text, refusal_signature: signature },
    });
  }
}

/** What names a signature in a log. */
const toLogFields = ({ txId, attempt, payload, kind, keyId, peer, initiator, orderHash, orderSeq }: AdmissionRequest) => ({
  tx_id: txId,
  attempt,
  payload,
  kind,
  key_id: keyId,
  peer,
  initiator,
  order_hash: orderHash,
  order_seq: orderSeq,
});
