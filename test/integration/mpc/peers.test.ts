import { createHash, randomBytes } from 'node:crypto';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { GroupKey } from '../../../src/messages/key-generation';
import { signEnvelope } from '../../../src/mpc/envelope';
import type { AdmissionRequest } from '../../../src/mpc/admission';
import { Identity } from '../../../src/mpc/identity';
import { entryFields } from '../../../src/mpc/journal-entry';
import type { NodeIndex } from '../../../src/messages/nodes';
import { deriveSessionId, type SessionParams } from '../../../src/mpc/session-params';
import { signStatement, type SignedStatement } from '../../../src/mpc/statement';
import { TransportClient } from '../../../src/mpc/transport-client';
import { TransportServer, type TransportServerOptions } from '../../../src/mpc/transport-server';
import { createLogger } from '../../../src/platform/logging';
import { claimsOf, forgeOrder, orderHead, signOrder } from '../../orders';
import { createGroup } from './certificates';
import { DishonestEngine } from './engines';
import { Group, localRegistry } from './group';
import { client, orderedTransfer, recipient, stranger, toRequest } from './transactions';
import { newKeyPair } from '../../keys';

const noService = { service: {}, archive: {} } as Pick<TransportServerOptions, 'service' | 'archive'>;

describe('a node among peers it does not trust', () => {
  let group: Group;
  let key: GroupKey;
  /** Node 1 as an attacker that has its certificate and sends its own messages. */
  let attacker: TransportClient;
  let attackerIdentity: Identity;
  const dishonest = new DishonestEngine();

  beforeAll(async () => {
    group = await Group.create({ 3: { engine: dishonest } });
    key = await group.addKey('wallet.1');
    await group.addKey('untested', { isBound: false });
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
  /** What node 2 has on record as refused to a peer that has shown this order. */
  const refused = (jti: string) =>
    group.query<{ peer: number; code: string }>(
      2,
      `select peer, code from refused_requests where role = 'peer' and named ->> 'jti' = $1 order by number`,
      [jti],
    );
  const generation = () => signOrder({ ...orderHead(), kind: 'generate_key', key_id: 'untested', client_id: client });
  const transfer = (peer: NodeIndex = 2, nonce = 7) =>
    toRequest(orderedTransfer(key, localRegistry, { symbol: 'USDC', nonce }), peer);

  describe('verifies the proposal of a dishonest initiator', () => {
    test('refuses bytes that are not what the order says', async () => {
      const honest = orderedTransfer(key, localRegistry, { symbol: 'USDC' });
      const outputs = (change: object) => ({ recipients: honest.claims.recipients.map((output) => ({ ...output, ...change })) });
      const lies = [
        outputs({ address: stranger }),
        outputs({ amount: '1' }),
        outputs({ token: null }),
        { recipients: [...honest.claims.recipients, ...honest.claims.recipients] },
        { max_fee: '1' },
        { from: recipient },
        { chain: 'eip155:8453' },
      ];
      for (const lie of lies) {
        const transaction = await toRequest({ ...honest, claims: { ...honest.claims, ...lie } }, 2);
        await expect(propose(params('sign', { transaction, payload: 0 }))).rejects.toMatchObject({ code: 'intent_mismatch' });
      }
    });

    test('requires the initiator’s own signed entry about exactly this signature, under this order', async () => {
      const { claims, unsigned } = orderedTransfer(key, localRegistry, { symbol: 'USDC' });
      const transaction = await toRequest({ claims, unsigned }, 2);
      const proposed = params('sign', { transaction, payload: 0 });
      const [paid] = claims.recipients;
      const admitted: AdmissionRequest = {
        ...{
          txId: claims.tx_id,
          attempt: 1,
          kind: 'first',
          payload: 0,
          keyId: key.keyId,
          clientId: client,
          peer: 2,
          initiator: 1,
        },
        orderHash: createHash('sha256').update(transaction.order).digest('hex'),
        orderSeq: claims.seq,
        order: { jti: claims.jti, compact: transaction.order, unsigned },
        resources: [`ethereum/${claims.from.toLowerCase()}/7`],
        digests: claims.signers[0]?.digests ?? [],
        spends: {
          ...{ chain: 'ethereum', token: paid?.token ?? null, amount: 1_500_000n, fee: BigInt(claims.max_fee) },
          recipients: [],
        },
      };
      const entry = entryFields(1, 1, admitted, new Date().toISOString());
      const sign = (over: object, by = attackerIdentity.signingKey) => signStatement('entry', { ...entry, ...over }, by);
      const stranger = newKeyPair('P-256').privateKey;
      const refused = [
        undefined,
        sign({}, stranger),
        signStatement('ban', entry, attackerIdentity.signingKey),
        ...[
          ...[{ tx_id: 'other' }, { attempt: 2 }, { node: 3 }, { peer: 3 }, { digests: ['0x00'] }, { key_id: 'other' }],
          ...[{ amount: '1' }, { resources: [] }, { number: -1 }, { number: '1' }, { admitted_at: 'now' }, { more: 1 }],
          ...[{ client_id: 'other' }, { order_hash: '00'.repeat(32) }, { order_seq: 2 }],
        ].map((over) => sign(over)),
      ];
      for (const statement of refused) await expect(propose(proposed, statement)).rejects.toThrow(/journal entry/);
      await expect(propose(proposed, sign({}))).resolves.toHaveProperty('statement');
    });

    test('an order that the attacker has made, altered, or kept for too long', async () => {
      const { claims, unsigned } = orderedTransfer(key, localRegistry, { symbol: 'USDC' });
      const [header, , signature] = (await toRequest({ claims, unsigned }, 2)).order.split('.');
      const altered = Buffer.from(JSON.stringify({ ...claims, attempt: 2 })).toString('base64url');
      const orders = {
        signature: [await forgeOrder(claims, { key: newKeyPair('ed25519').privateKey }), [header, altered, signature].join('.')],
        exp: [await forgeOrder({ ...claims, iat: claims.iat - 601, exp: claims.exp - 601 })],
        dep: [await forgeOrder({ ...claims, dep: 'another' })],
        more: [await forgeOrder({ ...claims, more: 1 })],
      };
      for (const [field, made] of Object.entries(orders))
        for (const order of made) {
          const proposed = propose(params('sign', { transaction: { order, unsigned, peer: 2 }, payload: 0 }));
          await expect(proposed).rejects.toMatchObject({ code: 'order_refused', message: expect.stringContaining(`${field}: `) });
        }
      expect(await refused(claims.jti)).toEqual(Array.from({ length: 5 }, () => ({ peer: 1, code: 'order_refused' })));
    });

    test('a real order with other bytes', async () => {
      const { order } = await transfer();
      const { unsigned } = orderedTransfer(key, localRegistry, { symbol: 'USDC', nonce: 8 });
      const proposed = propose(params('sign', { transaction: { order, unsigned, peer: 2 }, payload: 0 }));
      await expect(proposed).rejects.toMatchObject({ code: 'intent_mismatch', message: expect.stringContaining('signers: ') });
      expect(await refused(claimsOf<{ jti: string }>(order).jti)).toEqual([{ peer: 1, code: 'intent_mismatch' }]);
    });

    test('refuses a digest instead of a transaction, a request for another peer, a missing payload', async () => {
      const honest = await transfer();
      await expect(propose(params('sign', { keyId: key.keyId, digest: '00'.repeat(32) }))).rejects.toThrow(
        /missing, unknown or malformed/,
      );
      const test = { order: await generation(), peer: 2 };
      await expect(propose(params('test', { ...test, digest: '00'.repeat(32) }))).rejects.toThrow(/digest is missing, unknown/);
      await expect(propose(params('sign', { transaction: { ...honest, peer: 3 }, payload: 0 }))).rejects.toThrow(/another peer/);
      await expect(propose(params('sign', { transaction: honest, payload: 1 }))).rejects.toMatchObject({
        code: 'intent_mismatch',
      });
      await expect(propose(params('keygen', { order: test.order }))).rejects.toThrow(/number of participants/);
      await expect(propose(params('test', test, [2, 3]))).rejects.toThrow(/both sender and recipient/);
    });
  });

  describe('checks every round message', () => {
    test('verifies signature, round, session and order; a refused message does not end the session', async () => {
      const proposed = params('test', { order: await generation(), peer: 2 });
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
      // not the transaction of above: the attacker's session about it is still open
      const signing = group.node(2).activities.signTransaction(await transfer(3, 9));
      await expect(signing).rejects.toMatchObject({ code: 'signers_unavailable' });
      await expect(group.node(2).activities.signTransaction(await transfer(1, 9))).resolves.toMatchObject({
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

    test('neither connections of one peer nor those of strangers keep the other peer out', async () => {
      const { hostname: host, port } = group.peersOf(1).get(2)!;
      const { key: own, cert, ca } = group.files.nodes[3];
      const address = { host, port: Number(port), localAddress: '127.0.0.3' };
      const peer = Array.from({ length: 300 }, () =>
        connectTls({ ...address, key: own, cert, ca, checkServerIdentity: () => undefined }),
      );
      const strangers = Array.from({ length: 300 }, () => connect({ ...address, localAddress: '127.0.0.4' }));
      const sockets = [...peer, ...strangers];
      try {
        const settled = sockets.map(
          (socket) => new Promise((resolve) => socket.on('secureConnect', resolve).on('close', resolve)),
        );
        for (const socket of sockets) socket.on('error', () => undefined);
        await Promise.race([Promise.all(settled), new Promise((resolve) => setTimeout(resolve, 2_000))]);
        const me = group.files.nodes[1];
        expect(await ping({ key: me.key, cert: me.cert })).toBe(200);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
      expect(await attacker.ping(2)).toBe(true);
    });

    test('a connection whose handshake is under way when the server closes does not keep it, although its peer leaves it open', async () => {
      const logger = createLogger('test', 'silent');
      const identity = new Identity(group.files.nodes[2]);
      const server = new TransportServer({ identity, host: '127.0.0.1', port: 0, ...noService, logger });
      const { port } = await server.listen();
      const { key: own, cert, ca } = group.files.nodes[1];
      const raw = connect({ host: '127.0.0.1', port });
      raw.on('error', () => undefined);
      await new Promise((resolve) => raw.once('connect', resolve));
      // the server has accepted it
      await new Promise((resolve) => setTimeout(resolve, 50));
      let isClosed = false;
      const closed = server.close().then(() => (isClosed = true));
      const socket = connectTls({ socket: raw, key: own, cert, ca, checkServerIdentity: () => undefined });
      socket.on('error', () => undefined);
      try {
        for (let tries = 0; !isClosed && tries < 200; tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
        expect(isClosed).toBe(true);
      } finally {
        socket.destroy();
        await closed;
      }
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
