import type { AccountEntity } from '../../../src/accounts/entity';
import { createRpcCall } from '../../../src/chains/bitcoin/rpc';
import type { ChainClient } from '../../../src/chains/chain-client';
import { EvmChainClient } from '../../../src/chains/evm/client';
import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import { SolanaChainClient } from '../../../src/chains/solana/client';
import { TronChainClient } from '../../../src/chains/tron/client';
import type { ChainDefinition, FamilyRules } from '../../../src/chains/types';
import { bitcoinFixture } from '../../families/bitcoin';
import { evmFixture } from '../../families/evm';
import type { FamilyFixture, NodeView } from '../../families/fixture';
import { solanaFixture } from '../../families/solana';
import { tronFixture } from '../../families/tron';
import { clockOf } from '../../tron-client';
import { createBitcoinFixture } from '../bitcoin/fixture';
import { reorganise } from '../../../dev/faults';
import type { ChainFixture } from '../following/chain-fixture';
import { createFollowFixture } from '../following/fixture';
import { createSolanaFixture } from '../solana/fixture';
import { createTronFixture } from '../tron/fixture';
import { Gate } from './gate';

/** A chain of a test's own, with two accounts and what can go wrong with its node. */
export interface FamilyScene extends ChainFixture {
  node: NodeView;
  /** Of the node, past the gate. */
  url: string;
  /** What the gateway sees of the chain at these endpoints. */
  clientAt: (...urls: string[]) => ChainClient;
  /** Until it is open, the node does not answer. */
  gate: Gate;
  /** Waits for a block. Atomic units of the native coin. */
  deposit: (account: AccountEntity, amount: bigint) => Promise<unknown>;
  /** How many transactions wait for a block at the node. */
  waiting: () => Promise<number>;
  /** The node forgets a transaction that waits for a block. */
  drop: (id: string) => Promise<void>;
  /**
   * Other blocks take the place of this many newest ones; what was in them may be in these, or in none. null: the gateway sees no block
   * that another one can take the place of.
   */
  reorganise: ((depth: number) => Promise<void>) | null;
}

/** Requests are not spaced. */
const atAnyPace = (url: string): string => `${url}?rate=1000`;

type CreateScene = (changes: Partial<ChainDefinition>) => Promise<FamilyScene>;

const createEvm: CreateScene = async (changes) => {
  const gate = new Gate();
  const fixture = await createFollowFixture(changes, (url) => gate.before(url));
  const { anvil, send } = fixture;
  return {
    ...fixture,
    gate,
    node: evmFixture('ethereum').node(anvil.url),
    url: anvil.url,
    clientAt: (...urls) => new EvmChainClient(fixture.chain, urls),
    deposit: send,
    waiting: async () => (await anvil.client.getTxpoolStatus()).pending,
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
    url: btcd.url,
    deposit: ({ address }, amount) => node.send(address, amount),
    waiting: async () => (await createRpcCall(btcd.url)<string[]>('getrawmempool', [])).length,
    drop: () => btcd.restart(),
    reorganise: (depth) => node.reorganise(depth),
    close: () => fixture.close().finally(() => gate.remove()),
  };
};

const createTron: CreateScene = async (changes) => {
  const gate = new Gate();
  const fixture = await createTronFixture({ changes, route: (url) => gate.before(url) });
  const { simulated, send } = fixture;
  return {
    ...fixture,
    gate,
    node: tronFixture.node(simulated.url),
    url: simulated.url,
    clientAt: (...urls) => new TronChainClient(fixture.chain, urls.map(atAnyPace), clockOf(simulated)),
    deposit: send,
    waiting: async () => (await simulated.control('status')).pending as number,
    drop: (txid) => simulated.control('drop', { txid }),
    reorganise: null,
    close: () => fixture.close().finally(() => gate.remove()),
  };
};

const createSolana: CreateScene = async (changes) => {
  const gate = new Gate();
  const fixture = await createSolanaFixture({ changes, route: (url) => gate.before(url) });
  const { local, send } = fixture;
  return {
    ...fixture,
    gate,
    node: solanaFixture.node(local.url),
    url: local.url,
    clientAt: (...urls) => new SolanaChainClient(fixture.chain, urls.map(atAnyPace)),
    deposit: send,
    waiting: async () => (await local.status()).pending,
    drop: (txid) => local.call('drop', { txid }),
    reorganise: null,
    close: () => fixture.close().finally(() => gate.remove()),
  };
};

/** What tests have to know before there is a scene. */
interface Traits {
  rules: FamilyRules;
  /** The gateway sees final blocks alone. */
  isFinal: boolean;
}

/** Every family. A new one adds its line. */
const scenes: readonly (readonly [FamilyFixture, CreateScene, isFinal?: 'final'])[] = [
  [evmFixture('ethereum'), createEvm],
  [bitcoinFixture, createBitcoin],
  [tronFixture, createTron, 'final'],
  [solanaFixture, createSolana, 'final'],
];

const rulesOn = (chain: string): FamilyRules => getFamily(loadRegistry('local', [chain]).get(chain).family).rules;

/** The same tests for every family. Where its node cannot be had, they count as skipped. */
export function describeFamilies(
  title: string,
  tests: (fixture: FamilyFixture, create: CreateScene, traits: Traits) => void,
): void {
  for (const [fixture, create, isFinal] of scenes)
    // skipped: this machine has no package or build of the chain's local node
    (fixture.isInstalled ? describe : describe.skip)(`${title}: ${fixture.chain}`, () =>
      tests(fixture, create, { rules: rulesOn(fixture.chain), isFinal: isFinal === 'final' }),
    );
}
