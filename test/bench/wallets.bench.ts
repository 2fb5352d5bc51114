import type { Client as Temporal } from '@temporalio/client';
import { transferWorkflowId } from '../../src/messages/workflow-ids';
import { gatewayQuery } from '../adversary/processes';
import { call, fundedAccount, transactionWhen } from '../e2e/support';
import { withTemporal } from '../stack/temporal';
import { percentiles, round } from './load';

/**
 * From POST /wallets to ACTIVE, one wallet after another: with a key of the pool, and with a new key, which is the baseline; and the
 * signatures of transfers, alone and while wallets are created in either way. Numbers are printed, not judged. `npm run bench -- wallets`:
 * other benches have a stack without a pool.
 */
const counts = { pooled: 8, generated: 4, whilePooled: 4, signaturesAlone: 60 };
const transfersInFlight = 2;
const pollMs = 20;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const free = async () => (await gatewayQuery('select 1 from free_pooled_keys')).length;

async function untilFree(keys: number): Promise<void> {
  for (const end = Date.now() + 180_000; Date.now() < end; await sleep(200)) if ((await free()) >= keys) return;
  throw new Error(`the pool did not get ${keys} keys`);
}

/** Milliseconds. */
async function untilActive(): Promise<number> {
  const began = performance.now();
  const { status, body } = await call('POST', '/wallets', { body: { wallet_name: 'measured' } });
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  for (const end = began + 120_000; performance.now() < end; await sleep(pollMs)) {
    const shown = await call('GET', `/wallets/${body.wallet_id as string}`);
    if (shown.body.status === 'ACTIVE') return performance.now() - began;
  }
  throw new Error('the wallet did not become ACTIVE');
}

/** Wallets one after another that find a key, or none: what they took, in milliseconds. */
async function create(count: number, hasKey: boolean): Promise<number[]> {
  const times: number[] = [];
  for (let tries = 0; times.length < count && tries < 4 * count; tries += 1) {
    const found = (await free()) > 0;
    const took = await untilActive();
    if (found === hasKey) times.push(took);
  }
  return times;
}

/** Milliseconds of the signatures of a transfer: each from its node's beginning to its answer, as the history of the workflow says. */
async function signaturesOf(temporal: Temporal, txId: string): Promise<number[]> {
  const { events } = await temporal.workflow.getHandle(transferWorkflowId(txId)).fetchHistory();
  const at = (event: { eventTime?: { seconds?: unknown; nanos?: number | null } | null }) =>
    Number(event.eventTime?.seconds) * 1000 + (event.eventTime?.nanos ?? 0) / 1e6;
  const byId = new Map((events ?? []).map((event) => [String(event.eventId), event]));
  return (events ?? []).flatMap((event) => {
    const { scheduledEventId, startedEventId } = event.activityTaskCompletedEventAttributes ?? {};
    const scheduled = byId.get(String(scheduledEventId))?.activityTaskScheduledEventAttributes;
    const started = byId.get(String(startedEventId));
    return started && scheduled?.activityType?.name === 'signTransaction' ? [at(event) - at(started)] : [];
  });
}

test('creating wallets', async () => {
  await withTemporal(async (temporal) => {
    const { address } = await fundedAccount('ethereum', { ETH: '100' });
    const body = {
      from_address: address,
      to_address: `0x${'be'.repeat(20)}`,
      chain: 'ethereum',
      token_symbol: 'ETH',
      amount: '0.0001',
    };
    /** Transfers until `isOver`, some in flight; milliseconds of their signatures. */
    const signing = async (isOver: (sent: number) => boolean) => {
      const sent: string[] = [];
      const transfer = async () => {
        while (!isOver(sent.length)) {
          const { body: accepted } = await call('POST', '/transfer', { body });
          sent.push(accepted.tx_id as string);
          await transactionWhen(accepted.tx_id as string, ['SUBMITTED', 'CONFIRMED']);
        }
      };
      await Promise.all(Array.from({ length: transfersInFlight }, transfer));
      return (await Promise.all(sent.map((txId) => signaturesOf(temporal, txId)))).flat();
    };
    /** Signatures while wallets are created. */
    const beside = async <T>(work: () => Promise<T>) => {
      let isOver = false;
      const [result, signatures] = await Promise.all([work().finally(() => (isOver = true)), signing(() => isOver)]);
      return { result, signatures_ms: { ...percentiles(signatures), signatures: signatures.length } };
    };

    const pooled: number[] = [];
    while (pooled.length < counts.pooled) {
      await untilFree(2);
      pooled.push(...(await create(1, true)));
    }
    await untilFree(4);
    const alone = await signing((sent) => sent >= counts.signaturesAlone);
    const whilePooled = await beside(() => create(counts.whilePooled, true));
    // nodes that sign fill no pool: these wallets find none
    const whileGenerated = await beside(() => create(counts.generated, false));
    const generated = await create(counts.generated, false);
    process.stdout.write(
      `${JSON.stringify({
        bench: 'wallets',
        pooled_ms: { ...percentiles(pooled), wallets: pooled.length },
        baseline_generated_ms: { ...percentiles(generated), wallets: generated.length },
        baseline_to_pooled_p50: round(percentiles(generated).p50 / percentiles(pooled).p50),
        signatures_alone_ms: { ...percentiles(alone), signatures: alone.length },
        while_pooled: { wallets_ms: percentiles(whilePooled.result), signatures_ms: whilePooled.signatures_ms },
        while_generated: { wallets_ms: percentiles(whileGenerated.result), signatures_ms: whileGenerated.signatures_ms },
        signatures_p99_to_alone: {
          while_pooled: round(whilePooled.signatures_ms.p99 / percentiles(alone).p99),
          while_generated: round(whileGenerated.signatures_ms.p99 / percentiles(alone).p99),
        },
      })}\n`,
    );
  });
}, 900_000);
