import type { ImpossibilityProver } from '../chains/chain-client';
import type { FamilyCodec, GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import type { EarlierAttempt, SigningClaims } from '../messages/order';
import { GatewayError } from '../platform/errors';
import type { NodeIndex } from '../messages/nodes';
import { Semaphore } from '../platform/semaphore';
import type { EarlierProof } from './admission';
import { assertMatches, decode } from './verify/mismatch';
import { assertIsReissued } from './verify-intent';

export interface EarlierAttemptsOptions {
  self: NodeIndex;
  registry: ChainRegistry;
  getFamily: GetFamily;
  /** By chain name: at endpoints of this node's own configuration. */
  provers: ReadonlyMap<string, ImpossibilityProver>;
  /** This node's own clock, milliseconds since the epoch. */
  now?: () => number;
}

/** A caller has a slot of its node, which sessions of other chains need. */
const waitMs = 1_500;
const searches = { permits: 2, maxWaiting: 200, maxWaitMs: 60_000 };
/** Proofs that are remembered: one holds for ever, and finding it again takes two dozen requests. */
const maxKnown = 1_000;

/**
 * Proves, by this node's own clock and endpoints, that what a reissue takes the place of can never be executed: else it would be a second
 * payment. What the authoriser says about it does not count.
 */
export class EarlierAttempts {
  private readonly known = new Map<string, Promise<EarlierProof>>();
  private readonly turns = new Map<string, Semaphore>();
  private readonly now: () => number;

  constructor(private readonly options: EarlierAttemptsOptions) {
    this.now = options.now ?? Date.now;
  }

  /**
   * A proof for every attempt that the order names; undefined for an order of another kind. That these are all which this node has
   * admitted is checked with the journal (migrations/mpc-node/0015-proofs.ts). A search goes on after the caller has stopped waiting,
   * and the next call has its result.
   * @throws GatewayError intent_mismatch for an order that contradicts itself; reissue_unproven
   */
  async prove(claims: SigningClaims): Promise<EarlierProof[] | undefined> {
    if (claims.kind !== 'reissue') return undefined;
    const { registry, getFamily } = this.options;
    const chain = registry.findByCaip2(claims.chain);
    assertMatches(chain !== undefined, 'chain', 'this node does not serve it');
    const family = getFamily(chain.family);
    assertIsReissued(family);
    const { earlier } = claims;
    assertMatches(new Set(earlier.map(({ attempt }) => attempt)).size === earlier.length, 'earlier', 'it names an attempt twice');
    for (const attempt of earlier) assertIsEarlier(attempt, claims, family);
    const proofs: EarlierProof[] = [];
    const late = this.unproven('its endpoint has not answered yet');
    const until = performance.now() + waitMs;
    for (const attempt of earlier) {
      const found = this.proveOnce(chain.name, attempt, family);
      proofs.push(await within(found, until - performance.now(), late));
    }
    return proofs;
  }

  private async proveOnce(chain: string, earlier: EarlierAttempt, family: FamilyCodec): Promise<EarlierProof> {
    const { attempt, digests, unsigned } = earlier;
    const key = `${chain} ${unsigned}`;
    const found = this.known.get(key) ?? this.search(chain, earlier, family);
    this.known.set(key, found);
    found.catch(() => this.known.delete(key));
    const [oldest] = this.known.keys();
    if (this.known.size > maxKnown && oldest !== undefined) this.known.delete(oldest);
    return { ...(await found), attempt, digests };
  }

  private async search(
    chain: string,
    { attempt, digests, unsigned, begun_at }: EarlierAttempt,
    family: FamilyCodec,
  ): Promise<EarlierProof> {
    const prover = this.options.provers.get(chain);
    if (!prover) throw this.unproven(`it has no endpoint of ${chain}`);
    const { expiresAt } = family.describe(unsigned);
    const at = this.now();
    // an endpoint may show blocks of a time that has not come
    if (expiresAt !== undefined && expiresAt * 1000 > at) throw this.unproven(`attempt ${attempt} has not expired by its clock`);
    const begunAt = begun_at === undefined ? null : new Date(begun_at * 1_000);
    const view = await this.askAtOnce(chain, () => prover.proveImpossible(unsigned, begunAt)).catch((error: unknown) => {
      throw this.unproven(`none of its endpoints of ${chain} could show what has become of attempt ${attempt}`, error);
    });
    if (!view) throw this.unproven(`attempt ${attempt} may still be executed, or was`);
    const { endpoint, block } = view;
    return { attempt, digests, endpoint, block: block.number, hash: block.hash, proved_at: new Date(at).toISOString() };
  }

  /** A few searches of a chain at a time: each takes two dozen requests. @throws Error when too many wait. */
  private async askAtOnce<T>(chain: string, search: () => Promise<T>): Promise<T> {
    const turns = this.turns.get(chain) ?? new Semaphore(searches);
    this.turns.set(chain, turns);
    if (!(await turns.acquire())) throw new Error('too many proofs are looked for');
    try {
      return await search();
    } finally {
      turns.release();
    }
  }

  private unproven(reason: string, cause?: unknown): GatewayError {
    const { self } = this.options;
    return new GatewayError('reissue_unproven', `node ${self} signs no reissue: ${reason}`, {
      extra: { node: String(self) },
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

/** @throws what `found` rejects with; `late` when it takes longer, and goes on. */
async function within<T>(found: Promise<T>, ms: number, late: Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const wait = new Promise<never>((_, reject) => (timer = setTimeout(() => reject(late), Math.max(0, ms))));
  return Promise.race([found, wait]).finally(() => clearTimeout(timer));
}

/** The digests are those of the bytes: what is proven of the bytes is proven of the attempt. */
function assertIsEarlier({ attempt, digests, unsigned }: EarlierAttempt, claims: SigningClaims, family: FamilyCodec): void {
  assertMatches(attempt < claims.attempt, 'earlier', 'it names an attempt that is not before this one');
  const payloads = decode(() => family.signingPayloads(unsigned, claims.from));
  const isOfBytes = payloads.length === digests.length && payloads.every(({ digest }, at) => digest === digests[at]);
  assertMatches(isOfBytes, 'earlier', 'the digests are not those of the bytes');
  assertMatches(decode(() => family.describe(unsigned)).chain === claims.chain, 'earlier', 'the bytes are for another chain');
}
