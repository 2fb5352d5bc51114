import { setTimeout as delay } from 'node:timers/promises';
import { type Address, parseUnits, type PrivateKeyAccount } from 'viem';
import type { JsonObject } from '../../src/chains/types';
import { gatewayQuery } from '../adversary/processes';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { usdcOf } from '../e2e/payers';
import { type Account, accountWith, ends, transactionWhen } from '../e2e/support';
import { randomAddress } from '../factories';
import { families, isInStack } from '../families';
import type { FamilyFixture } from '../families/fixture';
import { waitFor } from '../stack/client';
import { signed } from '../x402';
import type { CarefulClient } from './careful-client';
import { differingCounters } from './counters';
import { paid } from './held-payments';
import { settlementsTo } from './settlement-rows';
import { type Settled, undecided } from './settling';
import { expectBalanced, onChain } from './transfer';

/** Transfers, reads and settlements of clients while processes are restarted. */

/** Of a transfer, and what each sender has from the beginning, as the fixtures count. A payment of less to a new account is refused on Solana. */
const [amount, deposits] = ['0.001', ['10', '10']];
/** Between two restarts, beside what is under way. */
const transfersBetween = 4;
const readPauseMs = 150;
const transferPauseMs = 800;
const settlePauseMs = 3_000;
const settleRetryMs = 500;
const settleForMs = 180_000;
/** No more than that, if restarts take long: transfers of each sender, settlements of all payers. */
const most = { transfers: 250, settlements: 40 };
/**
 * Transfers of a sender that have not ended. On a machine that is slow, or while the worker is away, more would wait in a line that is still there
 * when the last process has been restarted; and what is accepted between two restarts shows that earlier ones have ended.
 */
export const mostOpen = 4;

interface Sender {
  fixture: FamilyFixture;
  account: Account;
}

/** One on a chain of each family that the stack has. */
export const createSenders = (): Promise<Sender[]> =>
  Promise.all(families.filter(isInStack).map(async (fixture) => ({ fixture, account: await accountWith(fixture, deposits) })));

/** Of loads that have ended: other loads may have the same senders. */
const earlier: string[] = [];

export class RestartLoad {
  private readonly sent = new Map<string, { sender: Sender; to: string }>();
  private readonly settled = new Map<Address, Settled>();
  private isOver = false;

  constructor(
    private readonly client: CarefulClient,
    private readonly senders: readonly Sender[],
    private readonly payers: readonly PrivateKeyAccount[],
  ) {}

  /** Until `restart` has ended. */
  async during(restart: () => Promise<void>): Promise<void> {
    const restarted = restart().finally(() => {
      this.isOver = true;
    });
    const loads = [
      ...this.senders.map((sender) => this.transfer(sender)),
      this.read(),
      ...this.payers.map((payer) => this.settle(payer)),
    ];
    const results = await Promise.allSettled([restarted, ...loads]);
    expect(this.client.failures).toEqual([]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /** Resolves when some more have been accepted: there has been work with all processes. */
  async more(): Promise<void> {
    const least = this.sent.size + transfersBetween;
    await waitFor(() => this.sent.size >= least || this.client.failures.length > 0, { timeoutMs: 180_000, intervalMs: 50 });
    expect(this.client.failures).toEqual([]);
  }

  /** Transfers of each sender that have been accepted, and payments that have been settled. */
  get counts(): { transfers: number[]; settlements: number } {
    const sent = [...this.sent.values()];
    return {
      transfers: this.senders.map((one) => sent.filter(({ sender }) => sender === one).length),
      settlements: this.settled.size,
    };
  }

  /** All of it has been carried out once, and nothing else; the books are those of the chains. */
  async expectCarriedOut(): Promise<void> {
    for (const [txId, { sender, to }] of this.sent) {
      const { chain, decimals, amount: coins } = sender.fixture;
      expect(await transactionWhen(txId, ends, 180_000)).toMatchObject({ status: 'CONFIRMED' });
      expect({ txId, received: await onChain(chain, to) }).toEqual({ txId, received: parseUnits(coins(amount), decimals) });
    }
    const rows = await gatewayQuery<{ tx_id: string }>(
      `select tx_id from transactions
        where account_id = any($1::uuid[]) and transaction_type = 'OUTBOUND' and not tx_id = any($2::uuid[])`,
      [this.senders.map(({ account }) => account.account_id), earlier],
    );
    expect(rows.map(({ tx_id: txId }) => txId).sort()).toEqual([...this.sent.keys()].sort());
    earlier.push(...this.sent.keys());
    for (const { fixture, account } of this.senders) await expectBalanced(account, fixture.chain);

    expect([...this.settled.values()].filter(({ success }) => !success)).toEqual([]);
    for (const payTo of this.settled.keys()) {
      expect({ payTo, received: await usdcOf(payTo) }).toEqual({ payTo, received: paid });
      expect((await settlementsTo(payTo)).filter(({ status }) => status === 'CONFIRMED')).toHaveLength(1);
    }
    expect(await differingCounters()).toEqual([]);
    expect(await ledgerDifferences()).toEqual([]);
    expect(await recordDifferences()).toEqual([]);
  }

  private async transfer(sender: Sender): Promise<void> {
    const { account, fixture } = sender;
    const { chain, symbol, amount: coins } = fixture;
    const open: string[] = [];
    for (let count = 0; !this.isOver && count < most.transfers; count += 1) {
      const to = fixture.newAddress();
      const body = { from_address: account.address, to_address: to, chain, token_symbol: symbol, amount: coins(amount) };
      const answer = await this.client.request<{ tx_id: string }>('POST', '/transfer', 202, { body });
      this.sent.set(answer.body.tx_id, { sender, to });
      open.push(answer.body.tx_id);
      await delay(transferPauseMs);
      for (; !this.isOver && open.length >= mostOpen; await delay(transferPauseMs)) {
        const { body: oldest } = await this.client.request<{ status: string }>('GET', `/transactions/${open[0]}`, 200);
        if (ends.includes(oldest.status)) open.shift();
      }
    }
  }

  private async read(): Promise<void> {
    for (; !this.isOver; await delay(readPauseMs)) {
      const txId = [...this.sent.keys()].at(-1);
      if (txId) await this.client.request('GET', `/transactions/${txId}`, 200);
      await this.client.request('GET', `/assets?account_id=${this.senders[0]?.account.account_id}`, 200);
      await this.client.request('GET', '/transactions?page_size=20', 200);
    }
  }

  /** As the documents say: asked again, with the same payment, while it goes on, and when nothing was signed within the wait. */
  private async settle(payer: PrivateKeyAccount): Promise<void> {
    for (; !this.isOver && this.settled.size < most.settlements; await delay(settlePauseMs)) {
      const payTo = randomAddress() as Address;
      const body: JsonObject = await signed({ kind: 'eip3009', payer, payTo });
      for (const until = Date.now() + settleForMs; ; await delay(settleRetryMs)) {
        const { body: answer } = await this.client.request<Settled>('POST', '/x402/settle', 200, { body });
        if (undecided.includes(answer.errorReason ?? '') && Date.now() < until) continue;
        this.settled.set(payTo, answer);
        break;
      }
    }
  }
}
