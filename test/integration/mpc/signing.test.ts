import { getFamily } from '../../../src/chains/families';
import type { GroupKey } from '../../../src/messages/key-generation';
import type { NodeIndex } from '../../../src/messages/nodes';
import type { TransactionSignatures } from '../../../src/messages/signing';
import { Group, localRegistry } from './group';
import { payTo, stranger, transferRequest } from './transactions';

const pairs: [NodeIndex, NodeIndex][] = [
  [1, 2],
  [2, 3],
  [3, 1],
  [2, 1],
];

describe('two of three nodes', () => {
  let group: Group;
  let key: GroupKey;

  beforeAll(async () => {
    group = await Group.create();
    key = await group.node(1).activities.generateKey({ keyId: 'wallet.1' });
  }, 120_000);
  afterAll(() => group.close());

  let nonce = 0;
  const sign = (
    initiator: NodeIndex,
    peer: NodeIndex,
    change: (request: ReturnType<typeof transferRequest>) => void = () => undefined,
    index = 0,
  ) => {
    const request = transferRequest(key, localRegistry, { symbol: 'USDC', index, nonce: (nonce += 1) });
    change(request);
    return { request, signed: group.node(initiator).activities.signTransaction({ ...request, peer }) };
  };
  const verify = ({ signatures }: TransactionSignatures, { family, unsigned, intent }: ReturnType<typeof transferRequest>) =>
    getFamily(family).assemble(unsigned, signatures, intent.fromAddress);

  test('every node holds its share of the same key, encrypted in its own database', async () => {
    for (const node of [1, 2, 3] as const)
      expect(await group.node(node).activities.confirmKey({ keyId: key.keyId })).toEqual(key);
    await expect(group.node(1).activities.confirmKey({ keyId: 'unknown' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test.each(pairs)('nodes %i and %i sign a token transfer that recovers to the account', async (initiator, peer) => {
    const { request, signed } = sign(initiator, peer);
    const { id } = verify(await signed, request);
    expect(id).toMatch(/^0x[0-9a-f]{64}$/);
  });

  test('every account of the wallet signs with the one key', async () => {
    const { request, signed } = sign(1, 3, undefined, 41);
    verify(await signed, request);
    expect(request.intent.fromAddress).not.toBe(transferRequest(key, localRegistry).intent.fromAddress);
  });

  test('a test signature proves that two shares fit', async () => {
    await expect(group.node(3).activities.testSign({ keyId: key.keyId, peer: 2 })).resolves.toEqual({ verified: true });
  });

  test('the same request at the same moment makes two sessions with two signatures', async () => {
    const request = transferRequest(key, localRegistry, { symbol: 'USDC', nonce: (nonce += 1) });
    const signed = () => group.node(1).activities.signTransaction({ ...request, peer: 2 });
    const [first, second] = await Promise.all([signed(), signed()]);
    expect(first.signatures[0]).not.toBe(second.signatures[0]);
  });

  test('the initiator refuses a transaction that is not the intent', async () => {
    const { signed } = sign(1, 2, (request) => payTo(request, stranger));
    await expect(signed).rejects.toMatchObject({ code: 'intent_mismatch', message: expect.stringContaining('recipient') });
  });

  test('a key id is used once', async () => {
    await expect(group.node(2).activities.generateKey({ keyId: key.keyId })).rejects.toMatchObject({ code: 'invalid_parameter' });
  });

  test('an unknown key, a malformed request or a node as its own peer is refused', async () => {
    await expect(
      sign(1, 2, (request) => request.signers.forEach((signer) => (signer.keyId = 'other'))).signed,
    ).rejects.toMatchObject({
      code: 'signers_unavailable',
    });
    await expect(sign(1, 2, (request) => (request.unsigned = '0xzz')).signed).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
    await expect(sign(2, 2).signed).rejects.toMatchObject({ code: 'invalid_parameter' });
    const digest = { ...transferRequest(key, localRegistry), peer: 2 as const, digest: `0x${'00'.repeat(32)}` };
    await expect(group.node(1).activities.signTransaction(digest)).rejects.toMatchObject({ code: 'invalid_parameter' });
  });

  test('signatures during a key generation do not wait for it', async () => {
    const finished: string[] = [];
    const generation = group
      .node(1)
      .activities.generateKey({ keyId: 'wallet.2' })
      .then(() => finished.push('key'));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await Promise.all(pairs.map(([initiator, peer]) => sign(initiator, peer).signed.then(() => finished.push('signature'))));
    await generation;
    expect(finished).toEqual(['signature', 'signature', 'signature', 'signature', 'key']);
  }, 120_000);

  test('all three nodes can generate at once', async () => {
    const keys = await Promise.all(
      ([1, 2, 3] as const).map((node) => group.node(node).activities.generateKey({ keyId: `at-once.${node}` })),
    );
    expect(new Set(keys.map(({ publicKey }) => publicKey)).size).toBe(3);
  }, 180_000);

  test('with a node down its pairs fail at once and the other pair signs; once it is back, all pairs sign', async () => {
    await group.stop(2);
    try {
      const begun = Date.now();
      await expect(sign(1, 2).signed).rejects.toMatchObject({
        code: 'signers_unavailable',
        message: expect.stringContaining('node 2'),
      });
      expect(Date.now() - begun).toBeLessThan(2_000);
      const { request, signed } = sign(1, 3);
      verify(await signed, request);
      expect(await group.node(1).reachablePeers()).toEqual([3]);
      await expect(group.node(1).activities.generateKey({ keyId: 'wallet.3' })).rejects.toMatchObject({
        code: 'signers_unavailable',
      });
    } finally {
      await group.start(2);
    }
    const { request, signed } = sign(1, 2);
    verify(await signed, request);
    expect(await group.node(2).activities.confirmKey({ keyId: key.keyId })).toEqual(key);
  }, 60_000);
});
