import { setTimeout as delay } from 'node:timers/promises';
import { fundedAccount, type Account } from '../e2e/support';
import { randomAddress } from '../factories';
import { api, type ClientName, createActiveWallet, waitFor } from '../stack/client';
import { submit, type Submission } from './submit';

/** ETH. */
export const loadAmount = '0.001';
/** New transfers a second. Each is read once it is accepted, and most are cancelled: 13 requests a second, and those that are repeated. */
const transfersPerSecond = 5;
/** Of so many one is carried out, which costs signatures; the others are cancelled by their client at once. */
const oneIsCarriedOutOf = 3;
/** No load goes on for longer. */
const longestMs = 300_000;
/** Nothing that was sent before an answer `outcome_unknown` is carried out later than this: statements end after 15 s, database transactions that are idle after 30 s. */
const decidedAfterMs = 35_000;

/** An account from which transfers are sent. */
export interface Sender {
  client: ClientName;
  chain: 'ethereum' | 'base';
  account: Account;
}

/** A transfer that was accepted in the end. */
export interface Sent extends Submission {
  sender: Sender;
  to: string;
  /** What GET /transactions/{tx_id} said after the transfer was accepted. */
  read: number;
  /** How it has to end: CANCELLED if its client asked for it in time. */
  end: 'CONFIRMED' | 'CANCELLED';
  /** What it said after an answer `outcome_unknown`; after a 404 a second time, when everything from before was decided. */
  readAfterUnknown: number[];
}

/** Four accounts, on two chains and of two clients. */
export async function createSenders(): Promise<Sender[]> {
  const funded = async (client: ClientName, chain: Sender['chain'], walletId?: string): Promise<Sender> => ({
    client,
    chain,
    account: await fundedAccount(chain, { ETH: '50' }, walletId, client),
  });
  const { wallet_id: otherWallet } = await createActiveWallet('other');
  return Promise.all([
    funded('demo', 'ethereum'),
    funded('demo', 'ethereum'),
    funded('demo', 'base'),
    funded('other', 'ethereum', otherWallet),
  ]);
}

/** Transfers from these accounts in turn, at a constant rate, until it is told to stop. */
export class Load {
  private readonly running: Promise<Sent>[] = [];
  private readonly stopped = new AbortController();
  private readonly loading: Promise<void>;

  constructor(private readonly senders: readonly Sender[]) {
    this.loading = this.run();
  }

  /** One more transfer, now. */
  send(sender: Sender, { isCancelled = false } = {}): void {
    const sent = submitAndRead(sender, isCancelled);
    // it is awaited by `stop`
    sent.catch(() => undefined);
    this.running.push(sent);
  }

  /** No new transfers. Resolves when all are accepted. */
  async stop(): Promise<Sent[]> {
    this.stopped.abort();
    await this.loading;
    return Promise.all(this.running);
  }

  private async run(): Promise<void> {
    const began = Date.now();
    for (let count = 0; !this.stopped.signal.aborted && Date.now() - began < longestMs; await delay(20)) {
      for (const due = ((Date.now() - began) * transfersPerSecond) / 1_000; count < due; count += 1)
        this.send(this.senders[count % this.senders.length] as Sender, { isCancelled: count % oneIsCarriedOutOf > 0 });
    }
  }
}

async function submitAndRead(sender: Sender, isCancelled: boolean): Promise<Sent> {
  const { client, chain, account } = sender;
  const to = randomAddress();
  const readAfterUnknown: number[] = [];
  const onUnknown = async (txId: string) => {
    readAfterUnknown.push(await readTransaction(client, txId));
    if (readAfterUnknown.at(-1) !== 404) return;
    await delay(decidedAfterMs);
    readAfterUnknown.push(await readTransaction(client, txId));
  };
  const submission = await submit(account, to, loadAmount, { chain, client, onUnknown });
  const { txId } = submission;
  const read = await readTransaction(client, txId);
  const end = isCancelled && (await cancel(client, txId)) ? 'CANCELLED' : 'CONFIRMED';
  return { ...submission, sender, to, readAfterUnknown, read, end };
}

/** False when its signing has begun already. */
async function cancel(client: ClientName, txId: string): Promise<boolean> {
  return (await answered(client, 'POST', `/transactions/${txId}/cancel`)) === 200;
}

const readTransaction = (client: ClientName, txId: string): Promise<number> => answered(client, 'GET', `/transactions/${txId}`);

/** The status of the first answer that is not 503. */
function answered(client: ClientName, method: string, path: string): Promise<number> {
  const send = async () => {
    const { status } = await api(client).request(method, path);
    return status !== 503 && status;
  };
  return waitFor(send, { timeoutMs: 120_000, intervalMs: 500 });
}
