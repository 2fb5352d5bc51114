import { setTimeout as delay } from 'node:timers/promises';
import type { NodeIndex } from '../../src/messages/nodes';
import { call, transactionWhen } from '../e2e/support';
import { totpCode } from '../factories';
import { stack, waitFor } from '../stack/client';
import { pause } from '../stack/pause';
import { gapNames, type GapName } from './gaps';
import { notInGap } from './positions';
import { chainOf, type InGap, list, moveNonce, replacementGap, type Scene } from './scene';
import { allRun, kill, type Victim } from './victims';

/** Until every transfer is in its gap: a replacement begins 45 s after the first attempt, and a held statement that times out is tried again. */
const reachMs = 90_000;

/** Sent while both chains make blocks, before what is sent when they do not any more. */
const held: readonly GapName[] = [
  'settle: settleTransfer',
  'confirm: storeInclusion',
  'broadcast: markSubmitted',
  'broadcast: markBroadcast',
  'sign: recordSigned',
  'prepare: enterSigning',
  'prepare: beginSigning',
  'screen: screenTransfer',
  'lock: adoptHold',
];
/** Held for a short time, since they are a client's requests and what follows them directly. */
const brief: readonly GapName[] = ['start: ask Temporal', 'start: remove the message', 'accept: COMMIT', 'accept: insert'];

export type Transfers = ReadonlyMap<GapName, InGap>;

/** One transfer in every gap, `victim` killed once, and everything released. */
export async function crashWith(scene: Scene, victim: Victim, { isLast }: { isLast: boolean }): Promise<Transfers> {
  await allRun();
  const round = new Round(scene);
  try {
    await round.fill(isLast);
    kill(victim, await round.allInGaps());
    await delay(300);
  } finally {
    await scene.release();
  }
  await round.goOn();
  return round.transfers;
}

class Round {
  readonly transfers = new Map<GapName, InGap>();
  private cancelled: Promise<unknown> | undefined;

  constructor(private readonly scene: Scene) {}

  async fill(isLast: boolean): Promise<void> {
    this.transfers.set(replacementGap, await this.scene.takeStuck({ isLast }));
    // the others do not wait for it: held statements that time out are tried again, and then less and less often
    await Promise.all([this.reached([replacementGap]), this.scene.stuckIsSent()]);
    await Promise.all([
      ...held.map((name) => this.send(name)),
      this.sendToAuthoriser('broadcast: send'),
      this.beginCancellation(),
      this.sendUnlisted('screen: an approval is waited for'),
      this.sendUnlisted('screen: cancelTransfer'),
    ]);
    await this.reached([...held, 'prepare: a cancellation']);

    pause('chain:base');
    await chainOf('ethereum').setIntervalMining({ interval: 0 });
    await this.scene.holds.release('enterSigning', this.of('broadcast: send').account.address);
    await Promise.all([this.send('prepare: prepareAttempt'), this.send('confirm: a block is waited for')]);
    await this.reached(['prepare: prepareAttempt', 'broadcast: send', 'confirm: a block is waited for']);

    // after all others have signed: a node writes its journal entries one after another
    await this.sendToNodes();
    await this.reached(['sign: signTransaction']);
    this.cancelled = repeated(`/transactions/${await this.txIdOf('screen: cancelTransfer')}/cancel`, () => ({}));
    this.cancelled.catch(() => undefined);
    for (const name of brief) await this.send(name);
  }

  /** Resolves while every transfer is in its gap, with a node that takes part in a signature. */
  async allInGaps(): Promise<NodeIndex> {
    await this.reached(gapNames);
    const node = await this.scene.nodes.waiting();
    if (!node) throw new Error('no node signs any more');
    return node;
  }

  /** What the clients and the chain do after the crash. */
  async goOn(): Promise<void> {
    await moveNonce(this.of(replacementGap).account, 1);
    const demo = stack().clients.find(({ name }) => name === 'demo');
    await this.cancelled;
    const code = () => ({ mfa_code: totpCode(demo?.totp_secret ?? '') });
    await repeated(`/transactions/${await this.txIdOf('screen: an approval is waited for')}/approve`, code);
  }

  private of(name: GapName): InGap {
    const transfer = this.transfers.get(name);
    if (!transfer) throw new Error(`no transfer was sent to ${name}`);
    return transfer;
  }

  private async txIdOf(name: GapName): Promise<string> {
    return (await this.of(name).submission).txId;
  }

  private async send(name: GapName): Promise<InGap> {
    const sent = await this.scene.send(name);
    this.transfers.set(name, sent);
    return sent;
  }

  /** As far as the transaction that begins signing; it goes on when that is released. */
  private async sendToAuthoriser(name: GapName): Promise<InGap> {
    const { address } = this.scene.accountOf(name);
    await this.scene.holds.hold('enterSigning', address);
    const sent = await this.send(name);
    await this.scene.holds.reached('enterSigning', reachMs, address);
    return sent;
  }

  private async sendToNodes(): Promise<void> {
    const { account, submission } = await this.sendToAuthoriser('sign: signTransaction');
    await this.scene.nodes.hold((await submission).txId);
    await this.scene.holds.release('enterSigning', account.address);
  }

  /** Its recipient is blacklisted after its signing has begun. */
  private async beginCancellation(): Promise<void> {
    const { account, to } = await this.sendToAuthoriser('prepare: a cancellation');
    const listed = list('BLACKLIST', account, 'base', to);
    await this.scene.holds.release('enterSigning', account.address);
    await listed;
  }

  private async sendUnlisted(name: GapName): Promise<void> {
    const { submission } = await this.send(name);
    await transactionWhen((await submission).txId, ['AWAITING_APPROVAL'], reachMs);
  }

  /** @throws Error naming the gaps whose transfers are elsewhere. */
  private async reached(names: readonly GapName[]): Promise<void> {
    const transfers = names.map((name) => this.of(name));
    for (const until = Date.now() + reachMs; ;) {
      const elsewhere = await notInGap(this.scene, transfers);
      if (elsewhere.length === 0) return;
      if (Date.now() > until) throw new Error(`not reached within ${reachMs} ms: ${elsewhere.join('; ')}`);
      await delay(30);
    }
  }
}

/** A client's request, until it is answered 200. */
const repeated = (path: string, body: () => object): Promise<unknown> =>
  waitFor(async () => (await call('POST', path, { body: body() })).status === 200, { timeoutMs: 90_000, intervalMs: 1_000 });
