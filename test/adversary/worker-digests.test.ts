import { keccak256 } from 'viem';
import { nodeIndexes } from '../../src/messages/nodes';
import { forgeOrder, orderHead } from '../orders';
import { pause, pids, resumeAll } from '../stack/pause';
import { nodeQuery, signingPairs } from './nodes';
import { environmentOf, loginOf, query, refusal } from './processes';
import { describeEach, ProtocolScene } from './protocols';
import { TemporalClient } from './temporal-client';
import type { OrderedTransfer } from './transfers';
import { newKeyPair } from '../keys';

/** SECURITY.md, list “Worker”: with its own login and its own credentials for Temporal nobody has digests signed. */

const scenes = ProtocolScene.all();

/** Of something that no order is about. */
const digest = keccak256('0xfa15e0');

let worker: TemporalClient;
beforeAll(async () => {
  const [pid = 0] = pids('worker');
  worker = await TemporalClient.connect(environmentOf(pid));
});
afterAll(() => worker.close());

describeEach(scenes, (scene) => {
  /** Ordered and not signed: the worker has read the order from Temporal. */
  let ordered: OrderedTransfer;
  beforeAll(async () => {
    pause('worker');
    ordered = await scene.order();
  });
  afterAll(() => {
    resumeAll();
    scene.leave(ordered);
  });

  afterEach(async () => {
    for (const node of nodeIndexes)
      expect(await nodeQuery(node, 'select from journal where $1 = any(digests) or tx_id = $2', [digest, ordered.txId])).toEqual(
        [],
      );
  });

  test('its login shows bytes and digests of attempts, and no order', async () => {
    const [row] = await query<{ unsigned: string; digests: string[] }>(
      loginOf('gateway_worker'),
      `select unsigned, signers -> 0 -> 'digests' as digests from transfer_attempts where tx_id = $1`,
      [ordered.txId],
    );
    expect(row).toEqual({ unsigned: ordered.unsigned, digests: ordered.claims.signers[0]?.digests });
    expect(await refusal(loginOf('gateway_worker'), 'select claims from orders')).toBe('42501');
  });

  test.each(signingPairs)('nodes $initiator and $peer refuse a digest in the place of bytes, with a real order', async (pair) => {
    const [own = digest] = ordered.claims.signers[0]?.digests ?? [];
    for (const unsigned of [digest, own])
      await expect(worker.sign({ order: ordered.order, unsigned }, pair)).rejects.toMatchObject({ code: 'intent_mismatch' });
  });

  test.each(signingPairs)('nodes $initiator and $peer refuse an order over digests that the worker makes', async (pair) => {
    const { claims, unsigned, order } = ordered;
    const signers = claims.signers.map((signer) => ({ ...signer, digests: [digest] }));
    const { privateKey: key } = newKeyPair('ed25519');
    const { tx_id, attempt, client_id, request, chain, from } = claims;
    const facts = { kind: 'typed_data', tx_id, attempt, client_id, request, signers, chain, from };
    const [header, , signature] = order.split('.');
    const rewritten = `${header}.${Buffer.from(JSON.stringify({ ...claims, signers })).toString('base64url')}.${signature}`;
    const made = [
      rewritten,
      await forgeOrder({ ...claims, signers }, { key }),
      await forgeOrder({ ...facts, ...orderHead({ dep: claims.dep, seq: claims.seq }) }, { key }),
    ];
    for (const invented of made)
      await expect(worker.sign({ order: invented, unsigned }, pair)).rejects.toMatchObject({ code: 'order_refused' });
  });

  test('a node takes no digests beside its order and bytes, and the authoriser orders none', async () => {
    const { order, unsigned, txId } = ordered;
    const beside = { order, unsigned, peer: 2, digests: [digest] } as const;
    await expect(worker.node(1, 'signTransaction', beside)).rejects.toMatchObject({ code: 'invalid_parameter' });
    const request = { txId, lastAttempt: 1, kind: 'resume', signers: [{ digests: [digest] }] } as const;
    await expect(worker.beginSigning(request)).rejects.toMatchObject({ code: 'invalid_parameter' });
    const typed = { txId, lastAttempt: 1, kind: 'typed_data', digests: [digest] } as never;
    await expect(worker.beginSigning(typed)).rejects.toMatchObject({ code: 'invalid_parameter' });
  });
});
