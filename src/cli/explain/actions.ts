import type { DoubtedOrdinal } from '../../chains/reservations';
import type { FamilyRules } from '../../chains/types';
import type { GatewayError } from '../../platform/errors';
import { houseClientId } from '../../platform/house';
import type { TransactionEntity } from '../../transactions/entity';
import { isEnded } from '../../transactions/state';
import { whyNotCancelledByOperator } from '../../settlers/withdrawals/cancel';
import type { Attempts } from '../../transfers/attempts';
import { redoKey } from '../../transfers/accept/redone';
import { whyNotCancelled } from '../../transfers/end/cancel';
import { whyNotSent } from '../../webhooks/delivery-service';
import { whyNotAbandoned, whyNotStartedAgain } from '../transfer-preconditions';
import type { DeliveryView, FrozenAsset } from './rows';
import type { WorkflowView } from './workflow';

/** Something that can be done about a transaction now. */
export interface Action {
  name: string;
  by: 'operator' | 'client';
  /** As it is typed; of a client: the request of the API. */
  command: string;
  /** What it would do, in one sentence. */
  effect: string;
}

/** What decides about them, as it was read. */
export interface ActionFacts {
  tx: TransactionEntity;
  attempts: Attempts;
  workflow: WorkflowView;
  /** How transactions of its type are abandoned on its chain; null: they are not signed, or GATEWAY_ENV does not have the chain. */
  abandoned: FamilyRules['abandoned'] | null;
  /** Of `whyUndecidable`. */
  approvalRefusal: GatewayError | null;
  /** Of `areOrdersCompared`: until then nothing that is not signed is ended. */
  areOrdersCompared: boolean;
  /** The transfer that stands in its place, and the answer of `whyNotRedone`. */
  redo: { made: TransactionEntity | null; refusal: GatewayError | null };
  frozen: FrozenAsset[];
  /** Of its account on its chain. */
  doubted: DoubtedOrdinal[];
  deliveries: DeliveryView[];
}

const maxResends = 5;

/**
 * Only those that would be taken now: the commands and the API ask the same functions, and the workflow's own validators have answered.
 * Whether an account may be used again (`unfreeze`, `accept-count`) is not decided here: an operator has to find that out first.
 */
export function findActions(facts: ActionFacts): Action[] {
  const byOperator = [retry(facts), abandon(facts), cancel(facts), redo(facts)];
  return [...byOperator, ...byClient(facts), ...aboutAccount(facts), ...resend(facts)].filter((action) => action !== null);
}

function retry({ tx, workflow, redo: { made } }: ActionFacts): Action | null {
  const action = { name: 'retry', by: 'operator', command: `gateway transfers retry ${tx.txId}` } as const;
  if (workflow.state === 'open') {
    if (!workflow.possible?.retry) return null;
    const effect =
      workflow.live?.step === 'park'
        ? 'The workflow continues where it has stopped; what it was parked for has to be removed first'
        : 'The workflow asks the chain at once, in place of waiting';
    return { ...action, effect };
  }
  if ((workflow.state !== 'closed' && workflow.state !== 'missing') || whyNotStartedAgain(tx, made)) return null;
  return { ...action, effect: 'A new run of its workflow starts at once, and continues from the state in the database' };
}

const abandonEffects: Record<FamilyRules['abandoned'], string> = {
  cancel:
    'A cancellation is signed and sent, which costs a fee and uses up what the attempts would spend; once it is final, it ends as FAILED and everything is unlocked, unless an attempt is executed first',
  expiry:
    'Nothing more is signed or sent; once no attempt can be executed any more, it ends as FAILED and everything is unlocked',
};

function abandon({ tx, attempts, workflow, abandoned }: ActionFacts): Action | null {
  const isExecuted = attempts.inclusions.length > 0;
  if (!workflow.possible?.abandon || whyNotAbandoned(tx, { isExecuted, isRunning: workflow.state === 'open' })) return null;
  const effect = attempts.allImpossible
    ? 'Every endpoint is asked once more; if all show that no attempt can be executed any more, it ends as FAILED and everything is unlocked'
    : abandoned === null
      ? 'How transactions of its chain end is not known here: GATEWAY_ENV is of another environment'
      : abandonEffects[abandoned];
  return { name: 'abandon', by: 'operator', command: `gateway transfers abandon ${tx.txId}`, effect };
}

/** Of what has no client who could. */
function cancel({ tx, areOrdersCompared }: ActionFacts): Action | null {
  if (!areOrdersCompared || whyNotCancelledByOperator(tx)) return null;
  const effect = 'It ends as CANCELLED, and everything is unlocked; another withdrawal of its settler can be asked for then';
  return { name: 'cancel', by: 'operator', command: `gateway transfers cancel ${tx.txId}`, effect };
}

/** Once for each transfer; the rules for transfers are read by whoever carries it out. */
function redo({ tx, redo: { made, refusal } }: ActionFacts): Action | null {
  if (made || refusal) return null;
  const effect =
    'A new transfer pays the same amount to the same address, if the rules of POST /transfer allow it at that moment; what this one has failed ' +
    `for has to be removed first. It pays once, also if the client sends it again with the Idempotency-Key ${redoKey(tx.txId)}`;
  return { name: 'redo', by: 'operator', command: `gateway transfers redo ${tx.txId}`, effect };
}

function byClient({ tx, approvalRefusal, areOrdersCompared }: ActionFacts): Action[] {
  // nobody calls the API for the house
  if (tx.clientId === houseClientId) return [];
  const path = `/transactions/${tx.txId}`;
  const approve: Action = {
    name: 'approve',
    by: 'client',
    command: `POST ${path}/approve (with an mfa_code)`,
    effect: 'It goes on; where another user of the client has a second factor, the one who has requested it cannot approve it',
  };
  const reject: Action = {
    name: 'reject',
    by: 'client',
    command: `POST /approvals (decisions: tx_id ${tx.txId} with the decision reject; with an mfa_code)`,
    effect: 'It ends as REJECTED, and everything is unlocked; who has requested it may reject it too',
  };
  const cancel: Action = {
    name: 'cancel',
    by: 'client',
    command: `POST ${path}/cancel`,
    effect: 'It ends as CANCELLED, and everything is unlocked',
  };
  const ends = areOrdersCompared ? [...(approvalRefusal ? [] : [reject]), ...(whyNotCancelled(tx) ? [] : [cancel])] : [];
  return [...(approvalRefusal ? [] : [approve]), ...ends];
}

function aboutAccount({ tx, frozen, doubted }: ActionFacts): Action[] {
  if (isEnded(tx)) return [];
  return [
    ...frozen.map(({ asset_id: id, symbol, reason }) => unfreeze({ id, what: `${symbol} from this account`, reason })),
    ...doubted.map(acceptCount),
  ];
}

/** `what`: of which asset transfers are sent again. */
export const unfreeze = ({ id, what, reason }: { id: string; what: string; reason: string }): Action => ({
  name: 'unfreeze',
  by: 'operator',
  command: `gateway asset unfreeze ${id}`,
  effect: `Transfers of ${what} are sent again; its cause has to be examined first: ${reason}`,
});

/** Without the count: what the alarm reports is the word of one endpoint, and it may have more that is not final, or not true. */
export const acceptCount = ({ accountId, chain }: Pick<DoubtedOrdinal, 'accountId' | 'chain'>): Action => ({
  name: 'accept-count',
  by: 'operator',
  command: `gateway account accept-count ${accountId} ${chain} <count>`,
  effect:
    'So many transactions of the account count as executed, and its next one is begun behind them. After a restore `gateway reconcile` comes ' +
    'first; otherwise compare the count with a block explorer, find out who has signed them, and count only what is final',
});

const resend = ({ deliveries }: ActionFacts): Action[] =>
  deliveries
    .filter((delivery) => delivery.status === 'failed' && !whyNotSent({ status: delivery.endpoint_status }))
    .slice(0, maxResends)
    .map(({ webhook_id: webhookId, delivery_id: deliveryId, kind, tx_status: status }) => ({
      name: 'resend',
      by: 'client',
      command: `POST /webhooks/${webhookId}/deliveries/${deliveryId}/resend`,
      effect: `The event ${kind}${status === null ? '' : ` (${status})`} is sent again`,
    }));
