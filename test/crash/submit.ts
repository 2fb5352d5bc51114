import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from '../e2e/support';
import { fixtureOf } from '../families';
import { api, type ClientName } from '../stack/client';

const retryForMs = 240_000;

export interface Submission {
  /** Status and code of every answer, in order. */
  answers: string[];
  /** When the request of each answer was sent, ms. */
  sentAt: number[];
  /** Every id that an answer named: the same one, if all is well. */
  txIds: Set<string>;
  txId: string;
}

interface SubmitOptions {
  chain?: string;
  /** Whose account it is. */
  client?: ClientName;
  /** What the client does with the id that an answer `outcome_unknown` names, before it sends the request again. */
  onUnknown?: (txId: string) => Promise<void>;
}

/** One transfer of the native coin as a careful client makes it: the same Idempotency-Key again until it is accepted. */
export async function submit(
  account: Account,
  to: string,
  amount: string,
  { chain = 'ethereum', client, onUnknown }: SubmitOptions = {},
): Promise<Submission> {
  const answers: string[] = [];
  const sentAt: number[] = [];
  const txIds = new Set<string>();
  const request = {
    body: { from_address: account.address, to_address: to, chain, token_symbol: fixtureOf(chain).symbol, amount },
    headers: { 'idempotency-key': randomUUID() },
  };
  for (const until = Date.now() + retryForMs; Date.now() < until;) {
    sentAt.push(Date.now());
    const answer = await api(client)
      .request<{ tx_id?: string; code?: string }>('POST', '/transfer', request)
      .catch(() => undefined);
    const { tx_id: txId, code = '' } = answer?.body ?? {};
    answers.push(answer ? `${answer.status} ${code}`.trim() : 'no answer');
    if (txId) txIds.add(txId);
    if (answer?.status === 202 && txId) return { answers, sentAt, txIds, txId };
    if (code === 'outcome_unknown' && txId) await onUnknown?.(txId);
    await delay(Math.max(1, Number(answer?.headers.get('retry-after') ?? 1)) * 1000);
  }
  throw new Error(`not accepted within ${retryForMs} ms: ${answers.join(', ')}`);
}
