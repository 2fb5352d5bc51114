import { randomBytes } from 'node:crypto';
import pino from 'pino';
import { migrations } from '../../../migrations/mpc-node';
import { Bans } from '../../../src/mpc/bans';
import type { JournalMark } from '../../../src/mpc/journal-mark';
import { banGauge } from '../../../src/mpc/metrics';
import { signStatement } from '../../../src/mpc/statement';
import { ShareStore } from '../../../src/mpc/store';
import type { NodeIndex } from '../../../src/messages/nodes';
import { createNodeDatabase, type NodeDatabase } from './group';
import { newKeyPair } from '../../keys';

const { privateKey: signingKey } = newKeyPair('P-256');

describe('the alarm that names a node', () => {
  let database: NodeDatabase;
  let store: ShareStore;
  let bans: Bans;
  let alarms: { alert?: string; node?: number; by?: number }[];

  beforeAll(async () => {
    database = await createNodeDatabase();
    store = await ShareStore.open({ url: database.url, node: 1, keks: [randomBytes(32)], migrations });
    const write = (line: string) => alarms.push(JSON.parse(line) as (typeof alarms)[number]);
    bans = new Bans({
      database: store.database,
      self: 1,
      signingKey,
      mark: { raiseBans: () => Promise.resolve() } as unknown as JournalMark,
      logger: pino({ level: 'error' }, { write }),
    });
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });
  beforeEach(() => {
    alarms = [];
  });

  const told = (from: NodeIndex, peer: NodeIndex, keyId: string) => {
    const fields = { node: from, key_id: keyId, peer, reason: 'a failed check', banned_at: new Date().toISOString() };
    return bans.keepCopy(from, signStatement('ban', fields, signingKey));
  };
  const repeated = () => alarms.filter(({ alert }) => alert === 'node_banned_repeatedly').map(({ node, by }) => ({ node, by }));
  const measured = async (peer: NodeIndex) =>
    (await banGauge.get()).values.find(({ labels }) => labels.peer === String(peer))?.value;

  test('one node that bans by many keys is no proof: neither a peer nor this node alone raises it', async () => {
    for (const keyId of ['a', 'b', 'c']) await told(2, 3, keyId);
    for (const keyId of ['a', 'b']) await bans.ban(keyId, 2, 'a failed check');
    expect(repeated()).toEqual([]);
    expect([await measured(2), await measured(3)]).toEqual([1, 1]);
  });

  test('bans by two nodes raise it, by whatever keys', async () => {
    await bans.ban('d', 3, 'a failed check');
    expect(repeated()).toEqual([{ node: 3, by: 2 }]);
    expect(await measured(3)).toBe(2);
  });
});
