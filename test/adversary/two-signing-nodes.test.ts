import { createHash, randomBytes } from 'node:crypto';
import { migrations } from '../../migrations/mpc-node';
import type { KeyProtocol } from '../../src/chains/types';
import { verifiesEd25519 } from '../../src/mpc/ed25519';
import { ProtocolEngine } from '../../src/mpc/protocol/engine';
import { deriveKey, recoversTo } from '../../src/mpc/secp256k1';
import { parseKeks } from '../../src/mpc/share-cipher';
import { ShareStore, type UnlockedKey } from '../../src/mpc/store';
import { readConfig } from '../../src/platform/config';
import { run, type Session } from '../protocol-run';
import { nodeEnvironment } from './nodes';
import { gatewayQuery } from './processes';
import { describeEach, ProtocolScene } from './protocols';
import { shareOf } from './share-parts';

/** SECURITY.md, list “Two signing nodes”: somebody has the databases and the key-encryption keys of nodes 1 and 2. */

const scenes = ProtocolScene.all();

/** Each has one party's share, and gives what `open` opens for it. */
async function runBoth<R>(open: (party: 1 | 2, peer: 1 | 2, sessionId: Buffer) => Promise<Session<R>>): Promise<R> {
  const sessionId = randomBytes(32);
  const sessions = [await open(1, 2, sessionId), await open(2, 1, sessionId)] as const;
  const { results } = await run(
    new Map([
      [1, sessions[0]],
      [2, sessions[1]],
    ]),
  );
  return results.get(1) as R;
}

interface Signing {
  engine: ProtocolEngine;
  shares: Record<1 | 2, UnlockedKey>;
  path: string;
  /** A message; its SHA-256 where digests are signed. */
  message: Buffer;
  digest: Buffer;
}

/** Whether a signature of the account has come out. */
const sign: Record<KeyProtocol, (signing: Signing) => Promise<boolean>> = {
  'ecdsa-secp256k1': async ({ engine, shares, path, digest }) => {
    const signed = await runBoth((party, peer, sessionId) =>
      engine.sign({ sessionId, party, peer, share: shares[party].share, path, digest }),
    );
    return recoversTo(deriveKey(shares[1], path), signed, digest);
  },
  'frost-ed25519': async ({ engine, shares, message }) => {
    const signed = await runBoth((party, peer, sessionId) =>
      engine.frostSign({ sessionId, party, peer, share: shares[party].share, message }),
    );
    return verifiesEd25519(shares[1].publicKey, signed, message);
  },
};

describeEach(scenes, (scene) =>
  test('can sign anything: the gateway has no order, no attempt and no record of it', async () => {
    const { keyId, account_id: accountId } = scene.account;
    const [account] = await gatewayQuery<{ path: string }>('select derivation_path as path from accounts where account_id = $1', [
      accountId,
    ]);
    const message = randomBytes(32);
    const digest = createHash('sha256').update(message).digest();
    const shares = { 1: await shareOf(1, keyId), 2: await shareOf(2, keyId) };
    const engine = new ProtocolEngine();
    try {
      expect(await sign[scene.of.protocol]({ engine, shares, path: account?.path ?? '', message, digest })).toBe(true);
    } finally {
      await engine.close();
    }
    const ordered = `select from orders where claims::text like '%' || $1 || '%'`;
    expect(await gatewayQuery(ordered, [digest.toString('hex')])).toEqual([]);
  }),
);

test('one of them cannot: its share alone opens nothing of the other’s', async () => {
  const { MPC_NODE_KEK } = readConfig(['MPC_NODE_KEK'], nodeEnvironment(1));
  const { MPC_NODE_DATABASE_URL: url } = readConfig(['MPC_NODE_DATABASE_URL'], nodeEnvironment(2));
  await expect(ShareStore.open({ url, node: 2, keks: parseKeks(MPC_NODE_KEK), migrations })).rejects.toThrow(
    /^MPC_NODE_KEK is not the key that the shares/,
  );
});
