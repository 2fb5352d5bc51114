import type { BroadcastOutcome } from './chain-client';
import { findAnswers } from './endpoints';
import { NoAnswer } from './no-answer';
import { unknownReason } from './unknown-words';

/**
 * What an endpoint says about bytes that it was offered. `mayTakeElsewhere`: it refuses by its own view, so another one may take them;
 * `hasSeenMore`: by what it has seen of the chain, and one that takes them may lag; `isTrouble`: it has a trouble of its own, and says nothing
 * about them.
 */
export type Offered = { outcome: 'accepted' } | Refused;

type Refusal = Exclude<BroadcastOutcome, { outcome: 'accepted' }>;

export type Refused = Refusal & {
  mayTakeElsewhere: boolean;
  hasSeenMore?: true;
  isTrouble?: true;
};

export interface KnownRefusal {
  reason: string;
  /** As of BroadcastOutcome. Absent: these bytes are refused for good. */
  passing?: 'price' | 'view' | 'unknown';
  /** Refused for good by this node, by what its operator has set: another one may take it. */
  isOfNode?: boolean;
  hasSeenMore?: true;
}

/** A refusal whose words are known. */
export const toRefused = ({ reason, passing, isOfNode = false, hasSeenMore }: KnownRefusal): Refused =>
  passing
    ? { outcome: 'waiting', reason, passing, mayTakeElsewhere: true, ...(hasSeenMore && { hasSeenMore }) }
    : { outcome: 'rejected', reason, mayTakeElsewhere: isOfNode };

/** A refusal in words that nobody knows: they may stand for what passes. */
export const toUnknownRefusal = (code: number | string, message: string) =>
  ({ outcome: 'waiting', reason: unknownReason(code, message), passing: 'unknown', mayTakeElsewhere: true }) satisfies Offered;

/**
 * What a refusal means of bytes that the endpoint may have all the same: it is asked for them. Where it does not say, nobody knows whether they
 * were refused: that is a trouble of the endpoint, and as a refusal for good it is not believed. By what it has seen of the chain it refuses still.
 */
export async function unlessKnown(refusal: Refused, isKnown: () => Promise<boolean>): Promise<Offered> {
  try {
    return (await isKnown()) ? { outcome: 'accepted' } : refusal;
  } catch {
    if (refusal.outcome === 'waiting') return { ...refusal, isTrouble: true };
    const { reason } = refusal;
    return { outcome: 'waiting', reason, passing: 'unknown', mayTakeElsewhere: true, hasSeenMore: true, isTrouble: true };
  }
}

const limitsRequests = /rate.?limit|too many requests|request limit|compute units/i;
const tooManyRequests: ReadonlySet<number> = new Set([429]);

/** `codes`: with which an endpoint limits requests, beside its words. @throws NoAnswer where it does: it has said nothing about any of them. */
export function assertUnlimited(code: number, message: string, codes = tooManyRequests): void {
  if (codes.has(code) || limitsRequests.test(message)) throw new NoAnswer('the endpoint limits requests');
}

/** A trouble of the endpoint itself: it may pass, or stay until somebody is told. @throws NoAnswer as assertUnlimited. */
export function toTrouble(code: number, message: string): Offered {
  assertUnlimited(code, message);
  return { ...toUnknownRefusal(code, message), isTrouble: true };
}

/** The one that counts. */
function first(refusals: readonly Refusal[]): Refusal | undefined {
  const waiting = refusals.filter((refusal) => refusal.outcome === 'waiting');
  return waiting.find(({ passing }) => passing !== 'unknown') ?? waiting[0] ?? refusals[0];
}

const toWaiting = (reason: string): Refusal => ({ outcome: 'waiting', reason, passing: 'unknown' });

interface Endpoints<E> {
  run<T>(work: (endpoint: E) => Promise<T>, isPreferable?: () => boolean): Promise<T>;
}

/**
 * Offers signed bytes to one endpoint after the other. A refusal counts at once where every node would refuse, else where no other one
 * takes them: then one that is waited for counts before another, and among these one whose words are known. One for good by what a single node
 * has seen or is set to counts as such where every endpoint has one: those that do not say may take them. Without a refusal it is waited
 * for where an endpoint has answered: that may go on for ever, and somebody has to be told.
 * @throws what `endpoints.run` throws when no endpoint has answered.
 */
export async function offer<E>(endpoints: Endpoints<E>, send: (endpoint: E) => Promise<Offered>): Promise<BroadcastOutcome> {
  const refusals: Refusal[] = [];
  const troubles: Refusal[] = [];
  // a node that takes what another one has refused for good, or as too late, may be the one that lags: it is no better one to ask first
  let mayLag = false;
  let asked = 0;
  try {
    return await endpoints.run(
      async (endpoint) => {
        asked += 1;
        const said = await send(endpoint);
        if (said.outcome === 'accepted') return said;
        const { mayTakeElsewhere, hasSeenMore = false, isTrouble = false, ...refusal } = said;
        if (!mayTakeElsewhere) return refusal;
        (isTrouble ? troubles : refusals).push(refusal);
        mayLag ||= hasSeenMore || refusal.outcome === 'rejected';
        throw new Error(refusal.reason);
      },
      () => !mayLag,
    );
  } catch (error) {
    const answers = findAnswers(error);
    const refusal = first(refusals);
    const isOfAll = answers?.isOfAll === true && refusals.length === asked;
    if (refusal) return refusal.outcome === 'rejected' && !isOfAll ? toWaiting(refusal.reason) : refusal;
    if (!answers) throw error;
    const trouble = first(troubles) ?? toWaiting(`no endpoint takes it; they answer: ${answers.words}`);
    return answers.isOfAll ? trouble : { ...trouble, reason: `${trouble.reason}; not every endpoint answers` };
  }
}
