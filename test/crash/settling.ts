import { setTimeout as delay } from 'node:timers/promises';
import { api } from '../stack/client';

/** What a client is answered about a payment that it has settled. */
export interface Settled {
  success: boolean;
  transaction: string;
  txId?: string;
  errorReason?: string;
}

export const settleOnce = async (body: object, headers: Record<string, string> = {}): Promise<Settled> =>
  (await api().request<Settled>('POST', '/x402/settle', { body, headers })).body;

/** Reasons for which a seller sends the same request again (docs/x402.md). */
export const undecided = ['settlement_pending', 'unexpected_settle_error', 'unexpected_verify_error'];

/** As a seller does who has read the documents: the same request, until it is decided. */
export async function settle(body: object, headers: Record<string, string> = {}): Promise<Settled> {
  for (const until = Date.now() + 360_000; Date.now() < until; await delay(500)) {
    const answer = await settleOnce(body, headers).catch(() => undefined);
    if (answer?.success !== undefined && !undecided.includes(answer.errorReason ?? '')) return answer;
  }
  throw new Error('not decided in time');
}
