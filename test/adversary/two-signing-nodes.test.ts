import { randomBytes } from 'node:crypto';
import { migrations } from '../../migrations/mpc-node';
import { ProtocolEngine, type SignResult } from '../../src/mpc/protocol/engine';
import { deriveKey, recoversTo } from '../../src/mpc/secp256k1';
import { parseKeks } from '../../src/mpc/share-cipher';
import { ShareStore } from '../../src/mpc/store';
import { readConfig } from '../../src/platform/config';
import { run } from '../protocol-run';
import { nodeEnvironment } from './nodes';
import { gatewayQuery } from './processes';
import { Scene } from './scene';
import { shareOf } from './share-parts';

/** SECURITY.md, list “Two signing nodes”: somebody has the databases and the key-encryption keys of nodes 1 and 2. */

const scene = new Scene();

test('can sign anything: the gateway has no order, no attempt and no record of it', async () => {
  const { keyId, account_id: accountId } = scene.account;
  const [{ path }] = (await gatewayQuery<{ path: string }>('select derivation_path as path from accounts where account_id = $1', [
    accountId,
  ])) as [{ path: string }];
  const [sessionId, digest] = [randomBytes(32), randomBytes(32)];
  const [one, two] = [await shareOf(1, keyId), await shareOf(2, keyId)];
  const engine = new ProtocolEngine();
  try {
    const { results } = await run<SignResult>(
      new Map([
        [1, await engine.sign({ sessionId, party: 1, peer: 2, share: one.share, path, digest })],
        [2, await engine.sign({ sessionId, party: 2, peer: 1, share: two.share, path, digest })],
      ]),
    );
    const signed = results.get(1);
    expect(signed && recoversTo(deriveKey(one, path), signed, digest)).toBe(true);
  } finally {
    await engine.close();
  }
  const ordered = `select from orders where claims::text like '%' || $1 || '%'`;
  expect(await gatewayQuery(ordered, [digest.toString('hex')])).toEqual([]);
});

test('one of them cannot: its share alone opens nothing of the other’s', async () => {
  const { MPC_NODE_KEK } = readConfig(['MPC_NODE_KEK'], nodeEnvironment(1));
  const { MPC_NODE_DATABASE_URL: url } = readConfig(['MPC_NODE_DATABASE_URL'], nodeEnvironment(2));
  await expect(ShareStore.open({ url, node: 2, keks: parseKeks(MPC_NODE_KEK), migrations })).rejects.toThrow(
    /^MPC_NODE_KEK is not the key that the shares/,
  );
});
