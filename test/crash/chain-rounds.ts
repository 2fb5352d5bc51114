import { setTimeout as delay } from 'node:timers/promises';
import type { ChainFaults } from '../../dev/chain-faults';
import { chainFaults } from '../../dev/faults';
import { getFamily } from '../../src/chains/families';
import { loadRegistry } from '../../src/chains/registry';
import type { NodeIndex } from '../../src/messages/nodes';
import { ends, transactionWhen } from '../e2e/support';
import type { FamilyFixture } from '../families/fixture';
import { dataFolder, waitFor } from '../stack/client';
import { pause, resumeAll } from '../stack/pause';
import { gapNames, gapOf, type GapName } from './gaps';
import { allInGap } from './positions';
import { approve, cancel } from './requests';
import type { Transfers } from './round';
import { type InGap, list, replacementGap, type Scene } from './scene';
import { attemptsOf } from './transfer';
import { allRun, hang, kill } from './victims';

/**
 * What only the database is asked for there is the same on every chain; and what happens to others meanwhile is done to an EVM. Attempts of
 * some families are neither replaced nor cancelled.
 */
export function chainGaps({ chain }: FamilyFixture): GapName[] {
  const { stuck, abandoned } = getFamily(loadRegistry('local', [chain]).get(chain).family).rules;
  return gapNames.filter((name) => {
    if (name === replacementGap) return stuck === 'replace';
    if (name === cancelled) return abandoned === 'cancel';
    const { at, meanwhile = 'recipient is blacklisted' } = gapOf(name);
    const isCommit = typeof at === 'object' && 'on' in at && at.atCommit;
    return (!isCommit || name === 'accept: COMMIT') && meanwhile === 'recipient is blacklisted';
  });
}

const settled: GapName = 'settle: settleTransfer';
const approved: GapName = 'screen: an approval is waited for';
const cancelledByClient: GapName = 'screen: cancelTransfer';
const cancelled: GapName = 'prepare: a cancellation';
const withoutBlock: GapName = 'confirm: a block is waited for';
const atNodes: GapName = 'sign: signTransaction';
/** Held for a short time, since they are a client's requests and what follows them directly. */
const requests: readonly GapName[] = ['accept: insert', 'accept: COMMIT', 'start: ask Temporal', 'start: remove the message'];

const signedLater: GapName = 'broadcast: send';
const preparedLater: GapName = 'prepare: prepareAttempt';
const beforePause: readonly GapName[] = [
  'lock: adoptHold',
  'screen: screenTransfer',
  'broadcast: markBroadcast',
  'broadcast: markSubmitted',
];
const ofPausedNode: readonly GapName[] = [replacementGap, ...beforePause, signedLater, preparedLater];

/**
 * Where keys are of another protocol than those of crash.test.ts: one part is killed, or one node hangs. For the rest of the gaps it makes no
 * difference which parts go on: what a part does not do there is not about to be done, and what it has done is committed.
 */
export const ofOneVictim = {
  // what the nodes have signed meanwhile is asked for again, and each session gives another signature
  'worker killed': ['prepare: enterSigning', atNodes, 'broadcast: recordSigned', 'broadcast: markBroadcast'],
  // before it is asked, and while it takes part
  'a signing node killed': ['prepare: enterSigning', atNodes],
  'a signing node hangs': ['prepare: enterSigning', atNodes],
} as const satisfies Record<string, readonly GapName[]>;
export type OneVictim = keyof typeof ofOneVictim;

/**
 * A transfer of one chain in every gap, while all of the gateway is killed: API, worker, authoriser and a signing node. In two rounds, since
 * one node cannot both make blocks and not answer, and since at most eight transfers of a chain are between start and broadcast.
 */
export class ChainRounds {
  private transfers = new Map<GapName, InGap>();
  private readonly faults: ChainFaults;
  private cancelling: Promise<unknown> | undefined;
  private readonly gaps: readonly GapName[];
  /** Held while blocks are made; what is settled comes before the others, since the follower waits in another gap then. */
  private readonly whileBlocksAreMade: readonly GapName[];

  constructor(
    private readonly scene: Scene,
    private readonly fixture: FamilyFixture,
  ) {
    this.faults = chainFaults(dataFolder(), fixture.chain);
    this.gaps = chainGaps(fixture);
    const others = [...ofPausedNode, ...requests, settled, withoutBlock, atNodes];
    this.whileBlocksAreMade = this.gaps.filter((name) => !others.includes(name));
  }

  async run(): Promise<Transfers> {
    const killAll = (node: NodeIndex) => kill('all', node);
    await this.disturbIn(() => this.withBlocks(), killAll);
    await this.faults.resume();
    await this.endFirst();
    await this.disturbIn(() => this.withPausedNode(), killAll);
    // until then a block would hold the first attempt
    const replaced = this.transfers.get(replacementGap);
    if (replaced) {
      const { txId } = await replaced.submission;
      await waitFor(async () => (await attemptsOf(txId, this.fixture.chain)).length > 1, { timeoutMs: 90_000 });
    }
    await this.faults.resume();
    return this.transfers;
  }

  /** A node that hangs does so until the next of these, or the end of the scene. */
  async runOne(victim: OneVictim): Promise<Transfers> {
    resumeAll();
    this.transfers = new Map();
    const disturb: Record<OneVictim, (node: NodeIndex) => void> = {
      'worker killed': (node) => kill('worker', node),
      'a signing node killed': (node) => kill('mpc', node),
      'a signing node hangs': hang,
    };
    const fill = async () => {
      const held = ofOneVictim[victim].filter((name) => name !== atNodes);
      await this.send(held);
      await this.reached(held);
      await this.sendToNodes();
      await this.reached([...held, atNodes]);
    };
    await this.disturbIn(fill, disturb[victim], victim === 'a signing node hangs');
    return this.transfers;
  }

  /** Blocks are made again, whatever has failed. */
  async end(): Promise<void> {
    await this.faults.resume();
  }

  /** `disturb`: with a node that takes part in a signature, if one does. */
  private async disturbIn(fill: () => Promise<void>, disturb: (node: NodeIndex) => void, isPaused = false): Promise<void> {
    await allRun();
    try {
      await fill();
      disturb((await this.scene.nodes.waiting()) ?? 1);
      await delay(300);
    } finally {
      await this.scene.release({ isPaused });
    }
  }

  private async withBlocks(): Promise<void> {
    await this.send([settled]);
    await this.reached([settled]);
    const { whileBlocksAreMade } = this;
    await this.send(whileBlocksAreMade);
    if (this.gaps.includes(cancelled)) await this.blacklist(cancelled);
    await this.reached(whileBlocksAreMade.filter((name) => name !== cancelledByClient));
    await this.faults.delay();
    await this.send([withoutBlock]);
    await this.reached([withoutBlock]);
    await this.sendToNodes();
    await this.reached([atNodes]);
    this.cancelling = cancel((await this.of(cancelledByClient).submission).txId);
    this.cancelling.catch(() => undefined);
    await this.send(requests);
    await this.reached([settled, ...whileBlocksAreMade, withoutBlock, atNodes, ...requests]);
  }

  /** What the client does after the crash; everything has to end before no blocks are made again. */
  private async endFirst(): Promise<void> {
    await this.cancelling;
    await approve((await this.of(approved).submission).txId);
    for (const { submission } of this.transfers.values()) await transactionWhen((await submission).txId, ends, 120_000);
  }

  private async withPausedNode(): Promise<void> {
    await this.faults.delay();
    if (this.gaps.includes(replacementGap)) {
      await this.send([replacementGap]);
      await this.scene.letBegin(this.of(replacementGap));
      await this.reached([replacementGap]);
    }
    await this.send([...beforePause, signedLater]);
    await this.reached(beforePause);
    pause(`chain:${this.fixture.chain}`);
    await this.scene.letBegin(this.of(signedLater));
    await this.send([preparedLater]);
    await this.reached(ofPausedNode.filter((name) => this.gaps.includes(name)));
  }

  private async sendToNodes(): Promise<void> {
    await this.send([atNodes]);
    await this.scene.nodes.hold((await this.of(atNodes).submission).txId);
    await this.scene.letBegin(this.of(atNodes));
  }

  /** Its recipient is blacklisted after its signing has begun. */
  private async blacklist(name: GapName): Promise<void> {
    const transfer = this.of(name);
    const listed = list('BLACKLIST', transfer.account, this.fixture.chain, transfer.to);
    await this.scene.letBegin(transfer);
    await listed;
  }

  private of(name: GapName): InGap {
    const transfer = this.transfers.get(name);
    if (!transfer) throw new Error(`no transfer was sent to ${name}`);
    return transfer;
  }

  private async send(names: readonly GapName[]): Promise<void> {
    const { scene, fixture } = this;
    await Promise.all(
      names.map(async (name) => this.transfers.set(name, await scene.send(name, scene.accountOf(name), fixture.chain))),
    );
  }

  private reached(names: readonly GapName[]): Promise<void> {
    return allInGap(
      this.scene,
      names.map((name) => this.of(name)),
    );
  }
}
