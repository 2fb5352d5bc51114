import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { GroupKey } from '../../../src/messages/key-generation';
import { signEnvelope } from '../../../src/mpc/envelope';
import type { AdmissionRequest } from '../../../src/mpc/admission';
import { Identity } from '../../../src/mpc/identity';
import { entryFields } from '../../../src/mpc/journal-entry';
import type { NodeIndex } from '../../../src/messages/nodes';
import { deriveSessionId, type SessionParams } from '../../../src/mpc/session-params';
import { signStatement, type SignedStatement } from '../../../src/mpc/statement';
import { TransportClient } from '../../../src/mpc/transport-client';
import { createGroup } from './certificates';
import { DishonestEngine } from './engines';
import { Group, localRegistry } from './group';
import { recipient, stranger, transferRequest } from './transactions';

describe('a node among peers it does not trust', () => {
  let group: Group;
  let key: GroupKey;
  /** Node 1 as an attacker that has its certificate and sends its own messages. */
  let attacker: TransportClient;
  let attackerIdentity: Identity;
  const dishonest = new DishonestEngine();

  beforeAll(async () => {
    group = await Group.create({ 3: { engine: dishonest } });
    key = await group.node(2).activities.generateKey({ keyId: 'wallet.1' });
    attackerIdentity = new Identity(group.files.nodes[1]);
    attacker = new TransportClient(attackerIdentity, group.peersOf(1));
  }, 120_000);
  afterAll(async () => {
    attacker.close();
    await group.close();
  });

  const params = (kind: SessionParams['kind'], request: unknown, participants: NodeIndex[] = [1, 2]): SessionParams => ({
    protocol: 'ecdsa-secp256k1',
    kind,
    initiator: 1,
    participants,
    request: JSON.stringify(request),
  });
  const propose = (proposed: SessionParams, statement?: SignedStatement) =>
    attacker.propose(2, { params: proposed, randomness: randomBytes(32), ...(statement && { statement }) });
  const transfer = () => ({ ...transferRequest(key, localRegistry, { symbol: 'USDC' }), peer: 2 as const });

  describe('verifies the proposal of a dishonest initiator', () => {
    test('refuses an intent with another recipient, amount or token, or a lower fee bound, than the bytes', async () => {
      const honest = transfer();
      const outputs = (change: object) => ({ outputs: honest.intent.outputs.map((output) => ({ ...output, ...change })) });
      const lies = [
        outputs({ to: stranger }),
        outputs({ amount: '1' }),
        outputs({ tokenContract: null }),
        { outputs: [...honest.intent.outputs, ...honest.intent.outputs] },
        { feeBound: '1' },
        { fromAddress: recipient },
        { chain: 'base' },
      ];
      for (const lie of lies) {
        const lying = { transaction: { ...honest, intent: { ...honest.intent, ...lie } }, payload: 0 };
        await expect(propose(params('sign', lying))).rejects.toMatchObject({ code: 'intent_mismatch' });
      }
    });

    test('requires the initiator’s own signed entry about exactly this signature', async () => {
      const honest = transfer();
      const proposed = params('sign', { transaction: honest, payload: 0 });
      const { intent, attempt, kind, signers, unsigned } = honest;
      const admitted: AdmissionRequest = {
        ...{ txId: intent.txId, attempt, kind, payload: 0, keyId: key.keyId, clientId: null, peer: 2, initiator: 1, orderSeq: 0 },
        orderHash: createHash('sha256')
          .update(JSON.stringify([intent, attempt, kind, signers, unsigned]))
          .digest('hex'),
        resources: [`ethereum/${intent.fromAddress.toLowerCase()}/7`],
        digests: signers[0]?.digests ?? [],
        spends: {
          ...{
            chain: 'ethereum',
            token: intent.outputs[0]?.tokenContract ?? null,
            amount: 1_500_000n,
            fee: BigInt(intent.feeBound),
          },
          recipients: [],
        },
      };
      const entry = entryFields(1, 1, admitted, new Date().toISOString());
      const sign = (over: object, by = attackerIdentity.signingKey) => signStatement('entry', { ...entry, ...over }, by);
      const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
      const refused = [
        undefined,
        sign({}, stranger),
        signStatement('ban', entry, attackerIdentity.signingKey),
        ...[
          ...[{ tx_id: 'other' }, { attempt: 2 }, { node: 3 }, { peer: 3 }, { digests: ['0x00'] }, { key_id: 'other' }],
          ...[
            { amount: '1' },
            { resources: [] },
            { number: -1 },
            { number: '1' },
            { client_id: 1 },
            { admitted_at: 'now' },
            { more: 1 },
          ],
        ].map((over) => sign(over)),
      ];
      for (const statement of refused) await expect(propose(proposed, statement)).rejects.toThrow(/journal entry/);
      await expect(propose(proposed, sign({}))).resolves.toHaveProperty('statement');
    });

    test('refuses a digest instead of a transaction, a request for another peer, a missing payload', async () => {
      const honest = transfer();
      await expect(propose(params('sign', { keyId: key.keyId, digest: '00'.repeat(32) }))).rejects.toThrow(
        /missing, unknown or malformed/,
      );
      await expect(propose(params('test', { keyId: key.keyId, peer: 2, digest: '00'.repeat(32) }))).rejects.toThrow(
        /digest is missing, unknown/,
      );
      await expect(propose(params('sign', { transaction: { ...honest, peer: 3 }, payload: 0 }))).rejects.toThrow(/another peer/);
      await expect(propose(params('sign', { transaction: honest, payload: 1 }))).rejects.toMatchObject({
        code: 'intent_mismatch',
      });
      await expect(propose(params('keygen', { keyId: 'two-only' }))).rejects.toThrow(/number of participants/);
      await expect(propose(params('test', { keyId: key.keyId, peer: 2 }, [2, 3]))).rejects.toThrow(/both sender and recipient/);
    });
  });

  describe('checks every round message', () => {
    test('verifies signature, round, session and order; a refused message does not end the session', async () => {
      const proposed = params('test', { keyId: key.keyId, peer: 2 });
      const randomness = randomBytes(32);
      const handle = randomness.toString('hex');
      const answer = await attacker.propose(2, { params: proposed, randomness });
      if ('recorded' in answer) throw new Error('a test signature is never recorded');
      const sessionId = deriveSessionId(
        proposed,
        new Map([
          [1, randomness],
          [2, answer.randomness],
        ]),
      );
      const body = randomBytes(100);
      const signed = (over: object = {}) =>
        signEnvelope({ sessionId, round: 1, from: 1, to: 2, ...over }, body, attackerIdentity.signingKey);
      const send = (round: number, signature: Buffer, sent = body) => attacker.message(2, handle, round, sent, signature);

      await expect(send(1, signed(), Buffer.concat([body.subarray(1), body.subarray(0, 1)]))).rejects.toThrow(/does not verify/);
      for (const over of [{ sessionId: randomBytes(32) }, { round: 2 }, { to: 3 }, { from: 3 }]) {
        await expect(send(1, signed(over))).rejects.toThrow(/does not verify/);
      }
      await expect(send(2, signed({ round: 2 }))).rejects.toThrow(/sent round 2 instead of 1/);
      await expect(attacker.message(2, randomBytes(32).toString('hex'), 1, body, signed())).rejects.toThrow(/no such session/);
      await expect(attacker.propose(2, { params: proposed, randomness })).rejects.toThrow(/already proposed/);
      // the first valid message begins the session; its invalid content then ends it
      await expect(send(1, signed())).resolves.toBeUndefined();
      await expect(send(1, signed())).rejects.toThrow(/refused/);
    });

    test('a peer that violates the protocol gets no signature; the other pair signs', async () => {
      dishonest.flipInRound = 3;
      const signing = group.node(2).activities.signTransaction({ ...transfer(), peer: 3 });
      await expect(signing).rejects.toMatchObject({ code: 'signers_unavailable' });
      await expect(group.node(2).activities.signTransaction({ ...transfer(), peer: 1 })).resolves.toMatchObject({
        signatures: [expect.any(String)],
      });
    });
  });

  describe('serves pinned certificates only', () => {
    const ping = (options: RequestOptions): Promise<number> =>
      new Promise((resolve, reject) => {
        const { ca } = group.files.nodes[2];
        const request = httpsRequest({
          host: '127.0.0.1',
          port: group.ports[2],
          path: '/ping',
          ca,
          checkServerIdentity: () => undefined,
          agent: false,
          ...options,
        });
        request
          .on('response', (response) => resolve(response.resume().statusCode ?? 0))
          .on('error', reject)
          .end();
      });

    test('serves a peer', async () => {
      const { key: own, cert } = group.files.nodes[1];
      expect(await ping({ key: own, cert })).toBe(200);
    });

    test('no certificate, one of another authority, and one of this authority that is not pinned are refused', async () => {
      await expect(ping({})).rejects.toThrow();
      const { nodes } = await createGroup();
      await expect(ping({ key: nodes[1].key, cert: nodes[1].cert })).rejects.toThrow();
      await expect(ping(await group.files.another('mpc-node-1'))).rejects.toThrow();
    });

    test('TLS below 1.3 is refused', async () => {
      const { key: own, cert } = group.files.nodes[1];
      await expect(ping({ key: own, cert, maxVersion: 'TLSv1.2' })).rejects.toThrow();
    });

    test('a body beyond the limit is refused', async () => {
      await expect(attacker.message(2, '00'.repeat(32), 1, Buffer.alloc(600 * 1024), Buffer.alloc(64))).rejects.toMatchObject({
        code: 'signers_unavailable',
      });
      expect(await attacker.ping(2)).toBe(true);
    });
  });
});
