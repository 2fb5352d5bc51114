import { randomBytes } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import type { AttemptStatus, KnownAttempt } from '../../../src/chains/chain-client';
import type { Hex, Prepared, TransactionIntent } from '../../../src/chains/types';
import { toyChain } from '../../toy-chain/chain';
import { lifeBlocks, ToyChainClient } from '../../toy-chain/client';
import { toyFamily } from '../../toy-chain/family';
import { ToyLedger } from '../../toy-chain/ledger';
import { toKey, toyAddress } from '../../toy-chain/message';

const keys = new Map<string, Uint8Array>();
function newAddress(): string {
  const { secretKey, publicKey } = secp256k1.keygen();
  const { address, key } = toyAddress(publicKey);
  keys.set(key, secretKey);
  return address;
}

function sign(unsigned: Hex, from: string): Hex[] {
  return toyFamily.signingPayloads(unsigned, from).map(({ signer, digest }): Hex => {
    const signature = secp256k1.sign(Buffer.from(digest.slice(2), 'hex'), keys.get(signer) as Uint8Array, {
      prehash: false,
      format: 'recovered',
      extraEntropy: randomBytes(32),
    });
    return `0x${Buffer.from([...signature.subarray(1), signature[0] as number]).toString('hex')}`;
  });
}

const [alice, guardian, carol, outside] = [newAddress(), newAddress(), newAddress(), newAddress()];
const chain = toyChain();
const intent: TransactionIntent = { from: alice, outputs: [{ recipient: carol, tokenContract: null, amount: 80n }] };

let ledger: ToyLedger;
let client: ToyChainClient;
beforeEach(() => {
  ledger = new ToyLedger();
  client = new ToyChainClient(chain, ledger);
  ledger.guard(alice, guardian);
  for (const [to, amount] of [
    [alice, 100n],
    [alice, 50n],
    [guardian, 7n],
  ] as const)
    ledger.grant(outside, to, amount);
  ledger.mine();
});

async function build(resources = 1): Promise<{ unsigned: Hex; prepared: Prepared }> {
  const prepared = await client.prepare({ kind: 'first', intent, previous: [] });
  const own = ledger.unspent(alice).slice(0, resources);
  const inputs = [...own, ...ledger.unspent(guardian)].map(({ id }) => id);
  return { unsigned: toyFamily.build({ chain, intent, kind: 'first', prepared, resources: inputs }), prepared };
}

const known = (unsigned: Hex, prepared: Prepared): KnownAttempt => ({
  attempt: 1,
  kind: 'first',
  intent,
  unsigned,
  messageKey: toyFamily.messageKey(unsigned, alice),
  ids: [],
  expiry: prepared.expiry,
  begunAt: new Date(),
});
const stateOf = async (attempt: KnownAttempt): Promise<AttemptStatus> => (await client.status([attempt]))[0] as AttemptStatus;

test('a message is described without change, and signed by every owner of its inputs', async () => {
  const { unsigned } = await build();
  expect(toyFamily.describe(unsigned)).toMatchObject({ chain: 'toy:1', outputs: intent.outputs, maxNetworkFee: 10n });
  expect(toyFamily.describe(unsigned).resources).toHaveLength(2);
  expect(toyFamily.signingPayloads(unsigned, alice).map(({ signer }) => signer)).toEqual([toKey(alice), toKey(guardian)]);
  const [first = '0x', second = '0x'] = sign(unsigned, alice);
  expect(() => toyFamily.assemble(unsigned, [first], alice)).toThrow();
  expect(() => toyFamily.assemble(unsigned, [second, first], alice)).toThrow();
});

test('other signatures give another id with the same message key', async () => {
  const { unsigned, prepared } = await build();
  const [ours, peers] = [sign(unsigned, alice), sign(unsigned, alice)].map((signed) =>
    toyFamily.assemble(unsigned, signed, alice),
  );
  expect(ours?.id).not.toBe(peers?.id);
  expect(await client.broadcast(peers?.bytes as Hex)).toEqual({ outcome: 'accepted' });
  expect(await stateOf(known(unsigned, prepared))).toMatchObject({ state: 'pending', id: peers?.id });
  ledger.mine();
  expect(await stateOf(known(unsigned, prepared))).toMatchObject({ state: 'included', id: peers?.id, depth: 1 });
  const { blocks } = await client.scan(ledger.height, ledger.height, (all) => Promise.resolve(new Set(all)));
  expect(blocks[0]?.transactions).toEqual([{ id: peers?.id, messageKey: toyFamily.messageKey(unsigned, alice) }]);
  expect(blocks[0]?.deposits).toMatchObject([{ toAddress: carol, amount: 80n }]);
  expect(ledger.unspent(guardian)).toMatchObject([{ amount: 7n }]);
});

test('skipped numbers have no block, count for depth and let a message expire', async () => {
  const { unsigned, prepared } = await build();
  ledger.skip(lifeBlocks);
  expect(await client.block(ledger.height)).toBeNull();
  expect(await client.scan(1, ledger.height, () => Promise.resolve(new Set()))).toMatchObject({ scannedTo: ledger.height });
  expect(await client.broadcast(toyFamily.assemble(unsigned, sign(unsigned, alice), alice).bytes)).toMatchObject({
    outcome: 'rejected',
  });
  expect(await stateOf(known(unsigned, prepared))).toMatchObject({ state: 'absent' });
  ledger.mine(chain.finalityDepth);
  expect(await stateOf(known(unsigned, prepared))).toMatchObject({ state: 'impossible', proof: { kind: 'expired' } });
});

test('a message is impossible once another has spent an input, at finality depth', async () => {
  const [one, two] = [await build(), await build(2)];
  ledger.accept(toyFamily.assemble(two.unsigned, sign(two.unsigned, alice), alice).bytes);
  ledger.mine();
  expect(await stateOf(known(one.unsigned, one.prepared))).toMatchObject({ state: 'absent' });
  ledger.mine(chain.finalityDepth - 1);
  expect(await stateOf(known(one.unsigned, one.prepared))).toMatchObject({ state: 'impossible', proof: { kind: 'input_spent' } });
});

test('a reorganisation gives other hashes and may lose what its blocks held', async () => {
  const { unsigned, prepared } = await build();
  ledger.accept(toyFamily.assemble(unsigned, sign(unsigned, alice), alice).bytes);
  ledger.mine();
  const { hash } = ledger.tip;
  ledger.reorganise(1, { isLost: true });
  ledger.mine();
  expect((await client.block(ledger.height))?.hash).not.toBe(hash);
  expect(await stateOf(known(unsigned, prepared))).toMatchObject({ state: 'absent' });
});
