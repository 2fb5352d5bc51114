import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../stack/api-client';
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
  /** APIs that get each request at the same time, in place of that of the stack. */
  servers?: ApiClient[];
  /** What the client does with the id that an answer `outcome_unknown` names, before it sends the request again. */
  onUnknown?: (txId: string) => Promise<void>;
  /** Status and code of each answer, as it comes. */
  onAnswer?: (answer: string) => unknown;
}

/** One transfer of the native coin as a careful client makes it: the same Idempotency-Key again until it is accepted. */
export async function submit(
  account: Account,
  to: string,
  amount: string,
  { chain = 'ethereum', client, servers = [api(client)], onUnknown, onAnswer }: SubmitOptions = {},
): Promise<Submission> {
  const answers: string[] = [];
  const sentAt: number[] = [];
  const txIds = new Set<string>();
  const request = {
    body: { from_address: account.address, to_address: to, chain, token_symbol: fixtureOf(chain).symbol, amount },
    headers: { 'idempotency-key': randomUUID() },
  };
  for (const until = Date.now() + retryForMs; Date.now() < until;) {
    const sent = servers.map((server) => {
      sentAt.push(Date.now());
      return server.request<{ tx_id?: string; code?: string }>('POST', '/transfer', request).catch(() => undefined);
    });
    const responses = await Promise.all(sent);
    for (const response of responses) {
      const shown = response ? `${response.status} ${response.body.code ?? ''}`.trim() : 'no answer';
      answers.push(shown);
      onAnswer?.(shown);
      if (response?.body.tx_id) txIds.add(response.body.tx_id);
    }
    const accepted = responses.find((response) => response?.status === 202 && response.body.tx_id !== undefined);
    if (accepted?.body.tx_id) return { answers, sentAt, txIds, txId: accepted.body.tx_id };
    const [answer] = responses;
    const { tx_id: txId, code = '' } = answer?.body ?? {};
    if (code === 'outcome_unknown' && txId) await onUnknown?.(txId);
    await delay(Math.max(1, Number(answer?.headers.get('retry-after') ?? 1)) * 1000);
  }
  throw new Error(`not accepted within ${retryForMs} ms: ${answers.join(', ')}`);
}
