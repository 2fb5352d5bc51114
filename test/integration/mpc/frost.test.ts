import { randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import type { GroupKey } from '../../../src/messages/key-generation';
import { type NodeIndex, nodeIndexes } from '../../../src/messages/nodes';
import type { TransactionSignatures } from '../../../src/messages/signing';
import { Identity, readNodeKeys } from '../../../src/mpc/identity';
import { verifyAttestation } from '../../../src/mpc/key-attestation';
import type { SessionParams } from '../../../src/mpc/session-params';
import { TransportClient } from '../../../src/mpc/transport-client';
import { orderHead, signOrder } from '../../orders';
import { DishonestFrostEngine, frostValue } from './engines';
import { Group, type NodeOptions, wallet } from './group';
import { getFamily, messageRegistry, orderedMessage } from './message-chain';
import { client, orderedTransfer, type OrderedTransfer } from './transactions';

const account = '0190b5a4-0000-7000-8000-0000000000a1';
const protocol = 'frost-ed25519';
const pairs: [NodeIndex, NodeIndex][] = [
  [1, 2],
  [2, 3],
  [3, 1],
];
const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');

describe('nodes with a key of Ed25519', () => {
  let group: Group;
  let key: GroupKey;
  const options: NodeOptions = { registry: messageRegistry, getFamily };

  beforeAll(async () => {
    group = await Group.create({ 1: options, 2: options, 3: options });
    key = await group.generateKey(1, `${account}.1`, { protocol, accountId: account });
  }, 120_000);
  afterAll(() => group.close());

  let input = 0;
  const sign = async (initiator: NodeIndex, peer: NodeIndex, ordered = orderedMessage(key, (input += 1))) =>
    group.sign(ordered, initiator, peer);
  const isValid = ({ signatures }: TransactionSignatures, { unsigned }: OrderedTransfer, by = key) =>
    signatures.length === 1 && ed25519.verify(bytes(signatures[0]!), bytes(unsigned), bytes(by.publicKey));

  test('every node holds its share of the same key, of 32 bytes and without chain code', async () => {
    expect(key).toMatchObject({ publicKey: expect.stringMatching(/^0x[0-9a-f]{64}$/), chainCode: '0x' });
    for (const node of nodeIndexes)
      expect(await group.node(node).activities.confirmKey({ keyId: key.keyId })).toEqual({ ...key, walletId: wallet });
  });

  test.each(pairs)('nodes %i and %i sign the message, and plain Ed25519 verifies', async (initiator, peer) => {
    const ordered = orderedMessage(key, (input += 1));
    expect(isValid(await sign(initiator, peer, ordered), ordered)).toBe(true);
  });

  test('several keys are generated at once, each within seconds', async () => {
    const began = performance.now();
    const ids = Array.from({ length: 6 }, (_, at) => `several.${at}`);
    const keys = await Promise.all(
      ids.map((id, at) => group.generateKey(nodeIndexes[at % 3] as NodeIndex, id, { protocol, isBound: false })),
    );
    expect(new Set(keys.map(({ publicKey }) => publicKey)).size).toBe(ids.length);
    // on a busy machine too; keys of the other protocol take a minute of processor time
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  test('two sessions of one key at once give two signatures, and the journals have them', async () => {
    const both = [orderedMessage(key, (input += 1)), orderedMessage(key, (input += 1))];
    const signed = await Promise.all([sign(1, 2, both[0]), sign(1, 2, both[1])]);
    signed.forEach((signatures, at) => expect(isValid(signatures, both[at]!)).toBe(true));
    // asked again, the pair answers with what the journal has
    expect(await sign(1, 2, both[0])).toEqual(signed[0]);
    const [entry] = await group.query<{ signature: Buffer }>(2, `select signature from journal where tx_id = $1`, [
      both[1]!.claims.tx_id,
    ]);
    expect(entry?.signature).toEqual(bytes(signed[1].signatures[0]!));
  });

  test('the digest of the order has to be the one of the message', async () => {
    const ordered = orderedMessage(key, (input += 1));
    const [signer] = ordered.claims.signers;
    const other = { ...signer!, digests: [`0x${'11'.repeat(32)}` as const] };
    await expect(sign(1, 2, { ...ordered, claims: { ...ordered.claims, signers: [other] } })).rejects.toMatchObject({
      code: 'intent_mismatch',
      message: expect.stringContaining('digests'),
    });
  });

  test('a key signs nothing on a chain of another protocol, and no key of another protocol signs here', async () => {
    const ecdsa = await group.addKey('wallet.1');
    const transfer = orderedTransfer(ecdsa, messageRegistry, { symbol: 'USDC' });
    const signers = transfer.claims.signers.map((signer) => ({ ...signer, key_id: key.keyId, protocol }) as const);
    await expect(sign(1, 2, { ...transfer, claims: { ...transfer.claims, signers } })).rejects.toMatchObject({
      code: 'intent_mismatch',
    });
    const ordered = orderedMessage(key, (input += 1));
    const others = ordered.claims.signers.map((signer) => ({ ...signer, key_id: ecdsa.keyId }));
    await expect(sign(1, 2, { ...ordered, claims: { ...ordered.claims, signers: others } })).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
  });

  test('a key without an account signs nothing but test signatures, and is bound to an account once', async () => {
    const unbound = await group.generateKey(2, 'unbound', { protocol, isBound: false });
    const refused = { code: 'signers_unavailable', message: expect.stringContaining('has not bound the key') };
    await expect(sign(1, 2, orderedMessage(unbound, 1))).rejects.toMatchObject(refused);
    await expect(group.testSign(1, 2, unbound.keyId, protocol)).resolves.toEqual({ verified: true });
    await expect(group.testSign(1, 2, unbound.keyId)).rejects.toMatchObject({ code: 'invalid_parameter' });

    await expect(group.bindKey(1, unbound.keyId)).rejects.toMatchObject({ code: 'business_error' });
    const accountId = '0190b5a4-0000-7000-8000-0000000000a2';
    const attestation = await group.bindKey(1, unbound.keyId, { accountId });
    const nodeKeys = readNodeKeys(group.files.nodes[1].peerCerts);
    const attested = { wallet_id: wallet, client_id: client, account_id: accountId, protocol, public_key: unbound.publicKey };
    expect(verifyAttestation(attestation, nodeKeys)).toEqual({ node: 1, key_id: 'unbound', chain_code: '0x', ...attested });
    expect((await group.bindKey(1, unbound.keyId, { accountId })).text).toBe(attestation.text);
    await expect(group.bindKey(1, unbound.keyId, { accountId: account })).rejects.toMatchObject({ code: 'business_error' });
    await expect(group.testSign(1, 2, unbound.keyId, protocol)).rejects.toMatchObject({ code: 'order_refused' });
    // the row names another account than the ciphertext is bound to
    const another = '0190b5a4-0000-7000-8000-0000000000a9';
    await group.query(1, 'alter table key_shares disable trigger key_shares_guard');
    await group.query(1, 'update key_shares set account_id = $2 where key_id = $1', [unbound.keyId, another]);
    await expect(group.bindKey(1, unbound.keyId, { accountId: another })).rejects.toThrow(/cannot be decrypted/);
  });

  test('an account gets one key, whatever is ordered', async () => {
    const accountId = '0190b5a4-0000-7000-8000-0000000000a3';
    const bound = await group.generateKey(1, `${accountId}.1`, { protocol, accountId });
    const second = await group.generateKey(2, `${accountId}.2`, { protocol, isBound: false });
    for (const node of nodeIndexes)
      await expect(group.bindKey(node, second.keyId, { accountId })).rejects.toMatchObject({
        code: 'business_error',
        message: `another key is bound to account ${accountId}`,
      });
    await expect(group.bindKey(1, bound.keyId, { accountId })).resolves.toHaveProperty('text');
  });

  test('a wallet’s key is bound to no account', async () => {
    const ecdsa = await group.addKey('wallet.2', { isBound: false });
    await expect(group.bindKey(1, ecdsa.keyId, { accountId: account })).rejects.toMatchObject({ code: 'business_error' });
  });

  test('a proposal of another protocol than its order’s is refused', async () => {
    const attacker = new TransportClient(new Identity(group.files.nodes[1]), group.peersOf(1));
    const order = await signOrder({ ...orderHead(), kind: 'generate_key', key_id: 'other', client_id: client, protocol });
    const params: SessionParams = {
      protocol: 'ecdsa-secp256k1',
      kind: 'keygen',
      initiator: 1,
      participants: [1, 2, 3],
      request: JSON.stringify({ order }),
    };
    const proposed = attacker.propose(2, { params, randomness: randomBytes(32) });
    await expect(proposed).rejects.toMatchObject({ message: expect.stringContaining('another protocol') });
    attacker.close();
  });
});

describe('a node with a tampering peer', () => {
  let group: Group;
  let key: GroupKey;
  const dishonest = new DishonestFrostEngine();
  const options: NodeOptions = { registry: messageRegistry, getFamily };

  beforeAll(async () => {
    group = await Group.create({ 1: options, 2: options, 3: { ...options, engine: dishonest } });
    key = await group.generateKey(1, `${account}.1`, { protocol, accountId: account });
  }, 120_000);
  afterAll(() => group.close());

  const flipShare = { round: 2, change: (message: Uint8Array) => void (message[frostValue.from]! ^= 1) };

  test.each([
    {
      what: 'commitment that is no point',
      tamper: { round: 1, change: (message: Uint8Array) => void message.fill(0xff, frostValue.from, frostValue.to) },
      named: /^protocol bad_message: commitments are no points of the group \(node 3\)$/,
    },
    {
      what: 'commitment that is another point',
      tamper: { round: 1, change: (message: Uint8Array) => message.set(ed25519.Point.BASE.toBytes(), frostValue.from) },
      named: /^protocol bad_message: share is for other commitments \(node 3\)$/,
    },
    {
      what: 'share of the signature',
      tamper: flipShare,
      named: /^protocol aborted: Invalid signature share\. \(node 3\)$/,
    },
  ])('a tampered $what names it; another pair signs', async ({ what, tamper, named }) => {
    dishonest.tamper = tamper;
    const ordered = orderedMessage(key, what.length);
    const signing = group.sign(ordered, 1, 3);
    await expect(signing).rejects.toMatchObject({ code: 'signers_unavailable', message: expect.stringMatching(named) });
    dishonest.tamper = null;
    const { signatures } = await group.sign(ordered, 1, 2);
    expect(ed25519.verify(bytes(signatures[0]!), bytes(ordered.unsigned), bytes(key.publicKey))).toBe(true);
  });

  test('a commitment of an earlier session names it; another pair signs', async () => {
    let earlier: Uint8Array | undefined;
    const replay = (message: Uint8Array) => {
      if (earlier) message.set(earlier);
      else earlier = message.slice();
    };
    dishonest.tamper = { round: 1, change: replay };
    await expect(group.sign(orderedMessage(key, 400), 2, 3)).resolves.toHaveProperty('signatures');
    const ordered = orderedMessage(key, 401);
    const named = /^protocol bad_message: commitments are of another session \(node 3\)$/;
    await expect(group.sign(ordered, 2, 3)).rejects.toMatchObject({
      code: 'signers_unavailable',
      message: expect.stringMatching(named),
    });
    dishonest.tamper = null;
    await expect(group.sign(ordered, 2, 1)).resolves.toHaveProperty('signatures');
  });

  test('after 32 sessions that it has spoilt it is banned for this key', async () => {
    dishonest.tamper = flipShare;
    let spoilt = 0;
    for (let at = 0; at < 40; at += 1) {
      const error = await group.sign(orderedMessage(key, 100 + at), 1, 3).then(
        () => new Error('it has signed'),
        (reason: unknown) => reason as { code: string },
      );
      if ('code' in error && error.code === 'key_peer_banned') break;
      expect(error).toMatchObject({ code: 'signers_unavailable' });
      spoilt += 1;
    }
    dishonest.tamper = null;
    expect(spoilt).toBeGreaterThan(28);
    expect(spoilt).toBeLessThanOrEqual(32);
    await expect(group.sign(orderedMessage(key, 200), 1, 3)).rejects.toMatchObject({ code: 'key_peer_banned' });
    await expect(group.sign(orderedMessage(key, 200), 1, 2)).resolves.toHaveProperty('signatures');
  }, 60_000);

  test('a node that ends in the middle costs one session; the others sign', async () => {
    dishonest.stallsInRound = 2;
    const ordered = orderedMessage(key, 300);
    const signing = group.sign(ordered, 2, 3).catch((error: unknown) => error);
    await dishonest.stalled;
    await group.stop(3);
    expect(await signing).toMatchObject({ code: 'signers_unavailable' });
    const { signatures } = await group.sign(ordered, 2, 1);
    expect(ed25519.verify(bytes(signatures[0]!), bytes(ordered.unsigned), bytes(key.publicKey))).toBe(true);
    const [entry] = await group.query<{ outcome: string }>(2, `select outcome from journal where tx_id = $1 and peer = 3`, [
      ordered.claims.tx_id,
    ]);
    expect(['silent', 'failed']).toContain(entry?.outcome);
  }, 60_000);
});
