import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { call, type Account } from '../e2e/support';

const retryForMs = 240_000;

export interface Submission {
  /** Status and code of every answer, in order. */
  answers: string[];
  /** Every id that an answer named: the same one, if all is well. */
  txIds: Set<string>;
  txId: string;
}

/** One transfer of ETH as a careful client makes it: the same Idempotency-Key again until it is accepted. */
export async function submit(account: Account, to: string, amount: string, chain = 'ethereum'): Promise<Submission> {
  const answers: string[] = [];
  const txIds = new Set<string>();
  const request = {
    body: { from_address: account.address, to_address: to, chain, token_symbol: 'ETH', amount },
    headers: { 'idempotency-key': randomUUID() },
  };
  for (const until = Date.now() + retryForMs; Date.now() < until;) {
    const answer = await call('POST', '/transfer', request).catch(() => undefined);
    answers.push(answer ? `${answer.status} ${answer.body.code ?? ''}`.trim() : 'no answer');
    if (answer?.body.tx_id) txIds.add(answer.body.tx_id as string);
    if (answer?.status === 202) return { answers, txIds, txId: answer.body.tx_id as string };
    await delay(Math.max(1, Number(answer?.headers.get('retry-after') ?? 1)) * 1000);
  }
  throw new Error(`not accepted within ${retryForMs} ms: ${answers.join(', ')}`);
}
