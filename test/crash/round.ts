import { setTimeout as delay } from 'node:timers/promises';
import type { NodeIndex } from '../../src/messages/nodes';
import { pause } from '../stack/pause';
import type { Phase } from './gap';
import { enteredIn, gapNames, gapOf, type GapName, sentIn } from './gaps';
import { beginMeanwhile, retryParked } from './meanwhile';
import { allInGap } from './positions';
import { approve, cancel } from './requests';
import { chainOf, type InGap, moveNonce, replacementGap, type Scene } from './scene';
import { allRun, kill, type Victim } from './victims';

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
  /** Of clients, about transfers that wait for an approval. */
  private requests: Promise<unknown>[] = [];

  constructor(private readonly scene: Scene) {}

  async fill(isLast: boolean): Promise<void> {
    this.transfers.set(replacementGap, await this.scene.takeStuck({ isLast }));
    // the others do not wait for it: held statements that time out are tried again, and then less and less often
    await Promise.all([this.reached(enteredIn('round before')), this.scene.stuckIsSent()]);

    await this.send('blocks are made');
    const troubled = gapNames.filter((name) => gapOf(name).meanwhile);
    await Promise.all(troubled.map((name) => beginMeanwhile(this.scene, this.of(name))));
    await this.reached(enteredIn('blocks are made'));

    pause('chain:base');
    await chainOf('ethereum').setIntervalMining({ interval: 0 });
    await this.scene.letBegin(this.of('broadcast: send'));
    await this.send('chains stand still');
    await this.reached(enteredIn('chains stand still'));

    await this.send('the others have signed');
    await this.beginAtNodes();
    await this.reached(enteredIn('the others have signed'));

    this.requests = [
      cancel(await this.txIdOf('screen: cancelTransfer')),
      cancel(await this.txIdOf('screen: COMMIT of a cancel')),
      approve(await this.txIdOf('screen: COMMIT of an approval')),
    ];
    // a round that fails does not await them
    for (const request of this.requests) request.catch(() => undefined);
    await this.send('last');
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
    await Promise.all([
      moveNonce(this.of(replacementGap).account, 1),
      retryParked(this.of('park: parkTransfer')),
      approve(await this.txIdOf('screen: an approval is waited for')),
      ...this.requests,
    ]);
  }

  private of(name: GapName): InGap {
    const transfer = this.transfers.get(name);
    if (!transfer) throw new Error(`no transfer was sent to ${name}`);
    return transfer;
  }

  private async txIdOf(name: GapName): Promise<string> {
    return (await this.of(name).submission).txId;
  }

  private async send(phase: Phase): Promise<void> {
    await Promise.all(sentIn(phase).map(async (name) => this.transfers.set(name, await this.scene.send(name))));
  }

  private async beginAtNodes(): Promise<void> {
    await this.scene.nodes.hold(await this.txIdOf('sign: signTransaction'));
    await this.scene.letBegin(this.of('sign: signTransaction'));
  }

  private reached(names: readonly GapName[]): Promise<void> {
    return allInGap(
      this.scene,
      names.map((name) => this.of(name)),
    );
  }
}
