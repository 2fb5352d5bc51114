import { randomBytes } from 'node:crypto';
import { type NodeIndex, nodeIndexes } from '../../../src/messages/nodes';
import { type KeygenResult, ProtocolEngine } from '../../../src/mpc/protocol/engine';
import { run, type Session } from '../../protocol-run';

jest.setTimeout(180_000);

const sessions = 10_000;
const atOnce = 20;
/** Each runs the committed module anew. */
const engines = 4;
/** Of a message of round 1, behind its tag and the hash of the session: two points (native/threshold/src/frost/sign.rs). */
const points = [
  [33, 65],
  [65, 97],
] as const;

async function generate(): Promise<Uint8Array> {
  const all = nodeIndexes.map((party) => [party, new ProtocolEngine()] as const);
  const sessionId = randomBytes(32);
  const opened = new Map<NodeIndex, Session<KeygenResult>>();
  for (const [party, engine] of all) opened.set(party, await engine.frostKeygen({ sessionId, party }));
  const { results } = await run(opened);
  await Promise.all(all.map(([, engine]) => engine.close()));
  return (results.get(1) as KeygenResult).share;
}

test('a nonce is never used twice: 10,000 sessions of one key over one message commit to 20,000 points', async () => {
  const share = await generate();
  const message = randomBytes(320);
  const seen = new Set<string>();
  for (let made = 0; made < engines; made += 1) {
    const engine = new ProtocolEngine();
    let left = sessions / engines;
    const work = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const session = await engine.frostSign({ sessionId: randomBytes(32), party: 1, peer: 2, share, message });
        const [sent] = [...(await session.start()).values()];
        for (const [from, to] of points) seen.add(Buffer.from(sent as Uint8Array).toString('hex', from, to));
        await session.close();
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    await engine.close();
  }
  expect(seen.size).toBe(2 * sessions);
});
