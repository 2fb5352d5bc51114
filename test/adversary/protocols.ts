import { getFamily } from '../../src/chains/families';
import type { Family } from '../../src/chains/family';
import { loadRegistry } from '../../src/chains/registry';
import type { ChainDefinition, Hex, KeyProtocol, Prepared } from '../../src/chains/types';
import { isInStack } from '../families';
import type { FamilyFixture } from '../families/fixture';
import { ecdsa } from './protocol-ecdsa';
import { frost } from './protocol-frost';
import { type OwnedAccount, Scene } from './scene';
import type { TemporalClient } from './temporal-client';
import type { OrderedTransfer } from './transfers';

/** What tests have to know of a threshold protocol that they do not name, and of a chain whose accounts have its keys. */
export interface ProtocolCase {
  protocol: KeyProtocol;
  fixture: FamilyFixture;
  /** The same transaction to another recipient, of another amount, and with other changes. `seed`: of their values. */
  others: (unsigned: Hex, seed: number) => Hex[];
  /** What was prepared for an earlier attempt, as it would be now. */
  renew: (prepared: Prepared) => Promise<Prepared>;
  /** To the local chain's own node. */
  broadcast: (signed: Hex) => Promise<unknown>;
  /** Sessions by one key that a peer can spoil: then it is banned. */
  spoilable: number;
  /** Whose history has the orders of the generation of the account's key. */
  generationOf: (account: OwnedAccount) => string;
  orderNewKey: (temporal: TemporalClient, account: OwnedAccount) => Promise<NewKey>;
}

/** A key that nobody's workflow generates. */
export interface NewKey {
  /** To generate it. */
  order: string;
  /** Removes what the gateway has of it. */
  remove: () => Promise<unknown>;
}

/** An account whose key is one of a protocol. */
export class ProtocolScene extends Scene {
  constructor(
    readonly of: ProtocolCase,
    { ownWallet }: { ownWallet: boolean },
  ) {
    // an account of Solana has a key of its own anyhow
    super({ fixture: of.fixture, deposits: ['5'], renew: of.renew, ownWallet: ownWallet && of === ecdsa }, false);
  }

  get chain(): ChainDefinition {
    const { chain } = this.of.fixture;
    return loadRegistry('local', [chain]).get(chain);
  }

  get family(): Family {
    return getFamily(this.chain.family);
  }

  /** What is sent to the chain, and its id. @throws Error when it is not a signature of the account over just these bytes. */
  assemble({ unsigned, claims }: OrderedTransfer, signatures: Hex[]): { id: string; bytes: Hex } {
    return this.family.assemble(unsigned, signatures, claims.from);
  }

  /** One for each protocol; what every file does is done once for both. */
  static all({ ownWallet = false } = {}): ProtocolScene[] {
    const scenes = [ecdsa, frost].map((of) => new ProtocolScene(of, { ownWallet }));
    Scene.begin(scenes.filter(({ of }) => isInStack(of.fixture)));
    return scenes;
  }
}

/** The same tests with a key of each protocol. Where this machine has no package of the chain's local node they count as skipped. */
export function describeEach(scenes: readonly ProtocolScene[], tests: (scene: ProtocolScene) => void): void {
  for (const scene of scenes)
    (isInStack(scene.of.fixture) ? describe : describe.skip)(`with a key of ${scene.of.protocol}`, () => tests(scene));
}
