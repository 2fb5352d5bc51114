import type { AccountEntity } from '../../../src/accounts/entity';
import type { ChainDefinition } from '../../../src/chains/types';
import { bitcoinFixture } from '../../families/bitcoin';
import { evmFixture } from '../../families/evm';
import type { FamilyFixture, NodeView } from '../../families/fixture';
import { createBitcoinFixture } from '../bitcoin/fixture';
import { reorganise } from '../../../dev/faults';
import type { ChainFixture } from '../following/chain-fixture';
import { createFollowFixture } from '../following/fixture';
import { Gate } from './gate';

/** A chain of a test's own, with two accounts and what can go wrong with its node. */
export interface FamilyScene extends ChainFixture {
  node: NodeView;
  /** Until it is open, the node does not answer. */
  gate: Gate;
  /** Waits for a block. Atomic units of the native coin. */
  deposit: (account: AccountEntity, amount: bigint) => Promise<unknown>;
  /** The node forgets a transaction that waits for a block. */
  drop: (id: string) => Promise<void>;
  /** Other blocks take the place of this many newest ones; what was in them may be in these, or in none. */
  reorganise: (depth: number) => Promise<void>;
}

type CreateScene = (changes: Partial<ChainDefinition>) => Promise<FamilyScene>;

const createEvm: CreateScene = async (changes) => {
  const gate = new Gate();
  const fixture = await createFollowFixture(changes, (url) => gate.before(url));
  const { anvil, send } = fixture;
  return {
    ...fixture,
    gate,
    node: evmFixture('ethereum').node(anvil.url),
    deposit: send,
    drop: (id) => anvil.client.dropTransaction({ hash: id as `0x${string}` }),
    reorganise: (depth) => reorganise(anvil.client, depth),
    close: () => fixture.close().finally(() => gate.remove()),
  };
};

const createBitcoin: CreateScene = async (changes) => {
  const gate = new Gate();
  const fixture = await createBitcoinFixture(changes, (url) => gate.before(url));
  const { btcd, node } = fixture;
  return {
    ...fixture,
    gate,
    node: bitcoinFixture.node(btcd.url),
    deposit: ({ address }, amount) => node.send(address, amount),
    drop: () => btcd.restart(),
    reorganise: (depth) => node.reorganise(depth),
    close: () => fixture.close().finally(() => gate.remove()),
  };
};

/** Every family. A new one adds its line. */
const scenes: readonly (readonly [FamilyFixture, CreateScene])[] = [
  [evmFixture('ethereum'), createEvm],
  [bitcoinFixture, createBitcoin],
];

/** The same tests for every family. Where its node cannot be had, they count as skipped. */
export function describeFamilies(title: string, tests: (fixture: FamilyFixture, create: CreateScene) => void): void {
  for (const [fixture, create] of scenes)
    (fixture.isInstalled ? describe : describe.skip)(`${title}: ${fixture.chain}`, () => tests(fixture, create));
}
