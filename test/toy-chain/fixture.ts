import { secp256k1 } from '@noble/curves/secp256k1.js';
import { getFamily as productFamily } from '../../src/chains/families';
import type { Family, GetFamily } from '../../src/chains/family';
import type { ChainDefinition, FamilyRules, Hex } from '../../src/chains/types';
import type { GetSignedType } from '../../src/transactions/signed-type';
import { createChainFixture } from '../integration/following/chain-fixture';
import { toyChain } from './chain';
import { ToyChainClient } from './client';
import { toyFamily } from './family';
import { ToyLedger } from './ledger';
import { toyAddress } from './message';

/** Outputs of Alice, the sender; atomic units. */
const aliceOutputs = [100_000n, 50_000n];
/** Outputs of Bob, Alice's guardian: one is spent in each of her transactions and returned to him. */
const bobOutputs = [7n, 8n, 9n];

/**
 * The toy chain with two accounts, one guarding the other, that have coins. `rules`, `changesOfFamily`: in place of the toy family's
 * own.
 */
export async function createToyFixture(
  changes: Partial<ChainDefinition> = {},
  rules: Partial<FamilyRules> = {},
  { getSignedType, ...changesOfFamily }: Partial<Family> & { getSignedType?: GetSignedType } = {},
) {
  const family = { ...toyFamily, rules: { ...toyFamily.rules, ...rules }, ...changesOfFamily };
  const getFamily: GetFamily = (name) => (name === family.name ? family : productFamily(name));
  const toy = new ToyLedger();
  const client = new ToyChainClient(toyChain(changes), toy);
  const fixture = await createChainFixture({ client, getFamily, symbols: ['TOY'], ...(getSignedType && { getSignedType }) });
  const { database, alice, bob, chain } = fixture;
  const outside = toyAddress(secp256k1.keygen().publicKey).address;
  toy.guard(alice.address, bob.address);
  for (const amount of aliceOutputs) toy.grant(outside, alice.address, amount);
  for (const amount of bobOutputs) toy.grant(outside, bob.address, amount);
  toy.mine(chain.confirmations);
  await fixture.follow();

  /** What a transfer has reserved, in the order it was taken, with the attempts that use it. */
  const reservations = async (txId: string) => {
    const rows = await database.query<{ id: string; owner: string; resource: string; held: boolean; attempts: number[] }[]>(
      `select reservation_id as id, owner, resource, released_at is null as held,
              array(select attempt from attempt_reservations a where a.reservation_id = r.reservation_id order by attempt) as attempts
         from reservations r where tx_id = $1 order by reservation_id`,
      [txId],
    );
    return rows.map(({ held: isHeld, ...row }) => ({ ...row, isHeld }));
  };
  const release = (reservationId: string) =>
    database.query('update reservations set released_at = now() where reservation_id = $1', [reservationId]);
  const setFailed = (txId: string) =>
    database.query(`update transactions set status = 'FAILED', version = version + 1 where tx_id = $1`, [txId]);
  /** What a peer may have without the gateway: another signature over the message of an attempt. */
  const signOnceMore = (attempt: Record<string, unknown> | undefined) => {
    const unsigned = attempt?.unsigned as Hex;
    return toyFamily.assemble(unsigned, fixture.signatures(unsigned, alice.address, { isRandom: true }), alice.address);
  };
  /** Alice and her guardian, each for an input of their own and with their own path. */
  const expectBothSign = async (txId: string): Promise<void> => {
    const [attempt] = await fixture.attempts(txId);
    const paths = (attempt?.signers as { path: string }[]).map(({ path }) => path);
    expect(paths).toEqual([alice.derivationPath, bob.derivationPath]);
    expect((await reservations(txId)).map(({ owner }) => owner)).toEqual([alice.addressKey, bob.addressKey]);
  };
  const mine = (blocks = 1) => {
    toy.mine(blocks);
    return Promise.resolve();
  };
  return { ...fixture, toy, outside, mine, reservations, release, setFailed, signOnceMore, expectBothSign };
}

export type ToyFixture = Awaited<ReturnType<typeof createToyFixture>>;
