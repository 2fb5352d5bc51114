import { setTimeout as delay } from 'node:timers/promises';
import { type ChainFaults, chainFaults } from '../../dev/faults';
import { call, transactionWhen } from '../e2e/support';
import { totpCode } from '../factories';
import type { FamilyFixture } from '../families/fixture';
import { dataFolder, stack, waitFor } from '../stack/client';
import { pause } from '../stack/pause';
import { gapNames, type GapName } from './gaps';
import { notInGap } from './positions';
import type { Transfers } from './round';
import { type InGap, list, reachMs, replacementGap, type Scene } from './scene';
import { attemptsOf } from './transfer';
import { allRun, kill } from './victims';

/** With no block, and the node paused: everything else is in its gap while blocks are made. */
const atPausedNode: readonly GapName[] = ['lock: adoptHold', 'prepare: prepareAttempt', 'broadcast: send', replacementGap];
const signedLater: GapName = 'broadcast: send';
const atNodes: GapName = 'sign: signTransaction';
const withoutBlock: GapName = 'confirm: a block is waited for';
const cancelled: GapName = 'prepare: a cancellation';
const approved: GapName = 'screen: an approval is waited for';
const settled: GapName = 'settle: settleTransfer';
const cancelledByClient: GapName = 'screen: cancelTransfer';
/** Held for a short time: a client's requests, and what follows them directly. */
const atRequest: readonly GapName[] = ['accept: insert', 'accept: COMMIT', 'start: ask Temporal', 'start: remove the message'];

const isIn = (names: readonly GapName[], name: GapName): boolean => names.includes(name);
const others = [...atPausedNode, ...atRequest, atNodes, withoutBlock];

/**
 * A transfer of one chain in every gap, while all of the gateway is killed: API, worker, authoriser and a signing node. Twice, since one
 * node cannot both make blocks and not answer; in each of the two rounds of a part of the gaps.
 */
export class ChainRounds {
  readonly transfers = new Map<GapName, InGap>();
  private readonly faults: ChainFaults;
  private cancelling: Promise<unknown> | undefined;

  constructor(
    private readonly scene: Scene,
    private readonly fixture: FamilyFixture,
  ) {
    this.faults = chainFaults(dataFolder(), fixture.chain);
  }

  async run(): Promise<Transfers> {
    await this.round(() => this.whileBlocksAreMade());
    await this.approve();
    await this.round(() => this.atPausedNode());
    await this.waitForReplacement();
    await this.faults.resume();
    return this.transfers;
  }

  /** Resumes the blocks, whatever has failed. */
  async end(): Promise<void> {
    await this.faults.resume();
  }

  private async round(fill: () => Promise<void>): Promise<void> {
    await allRun();
    try {
      await fill();
      kill('all', (await this.scene.nodes.waiting()) ?? 1);
      await delay(300);
    } finally {
      await this.scene.release();
    }
  }

  private async whileBlocksAreMade(): Promise<void> {
    const held = gapNames.filter((name) => !isIn(others, name));
    // first: what is settled needs the follower, which waits in another gap then
    await this.send([settled]);
    await this.reached([settled]);
    await this.send(held.filter((name) => name !== settled));
    await this.letBeCancelled();
    await this.reached(held.filter((name) => name !== cancelledByClient));
    await this.faults.delay();
    await this.send([withoutBlock]);
    await this.reached([withoutBlock]);
    await this.send([atNodes]);
    await this.scene.nodes.hold(await this.txIdOf(atNodes));
    await this.scene.letBegin(this.of(atNodes));
    await this.reached([atNodes]);
    this.cancelling = until200(`/transactions/${await this.txIdOf(cancelledByClient)}/cancel`, () => ({}));
    this.cancelling.catch(() => undefined);
    await this.send(atRequest);
    await this.reached([...held, withoutBlock, atNodes, ...atRequest]);
  }

  /** What the client does after the first crash; all of it has to end before blocks are delayed again. */
  private async approve(): Promise<void> {
    await this.faults.resume();
    await this.cancelling;
    const demo = stack().clients.find(({ name }) => name === 'demo');
    const code = () => ({ mfa_code: totpCode(demo?.totp_secret ?? '') });
    await until200(`/transactions/${await this.txIdOf(approved)}/approve`, code);
    const ended = ['CONFIRMED', 'CANCELLED', 'FAILED'];
    for (const { submission } of this.transfers.values()) await transactionWhen((await submission).txId, ended, 120_000);
  }

  private async atPausedNode(): Promise<void> {
    await this.faults.delay();
    await this.send([replacementGap]);
    await this.scene.letBegin(this.of(replacementGap));
    await this.reached([replacementGap]);
    await this.send([signedLater]);
    pause(`chain:${this.fixture.chain}`);
    await this.scene.letBegin(this.of(signedLater));
    await this.send(['lock: adoptHold', 'prepare: prepareAttempt']);
    await this.reached(atPausedNode);
  }

  /** Until then a block would hold the first attempt. */
  private async waitForReplacement(): Promise<void> {
    const txId = await this.txIdOf(replacementGap);
    await waitFor(async () => (await attemptsOf(txId, this.fixture.chain)).length > 1, { timeoutMs: 90_000 });
  }

  /** Its recipient is blacklisted after its signing has begun. */
  private async letBeCancelled(): Promise<void> {
    const transfer = this.of(cancelled);
    const listed = list('BLACKLIST', transfer.account, this.fixture.chain, transfer.to);
    await this.scene.letBegin(transfer);
    await listed;
  }

  private of(name: GapName): InGap {
    const transfer = this.transfers.get(name);
    if (!transfer) throw new Error(`no transfer was sent to ${name}`);
    return transfer;
  }

  private async txIdOf(name: GapName): Promise<string> {
    return (await this.of(name).submission).txId;
  }

  private async send(names: readonly GapName[]): Promise<void> {
    const { scene, fixture } = this;
    await Promise.all(
      names.map(async (name) => this.transfers.set(name, await scene.send(name, scene.accountOf(name), fixture.chain))),
    );
  }

  /** @throws Error naming the gaps whose transfers are elsewhere. */
  private async reached(names: readonly GapName[]): Promise<void> {
    const transfers = names.map((name) => this.of(name));
    for (const end = Date.now() + reachMs; ; await delay(30)) {
      const elsewhere = await notInGap(this.scene, transfers);
      if (elsewhere.length === 0) return;
      if (Date.now() > end) throw new Error(`not reached within ${reachMs} ms: ${elsewhere.join('; ')}`);
    }
  }
}

/** A client's request, until it is answered 200. */
const until200 = (path: string, body: () => object): Promise<unknown> =>
  waitFor(async () => (await call('POST', path, { body: body() })).status === 200, { timeoutMs: 90_000, intervalMs: 1_000 });
