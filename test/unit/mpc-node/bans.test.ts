import type { DataSource } from 'typeorm';
import pino from 'pino';
import { Bans } from '../../../src/mpc/bans';
import type { JournalMark } from '../../../src/mpc/journal-mark';
import { newKeyPair } from '../../keys';

const { privateKey: signingKey } = newKeyPair('P-256');

/** A node's bans in a database that answers when the test says so. */
function create() {
  const waiting: { sql: string; resolve: (rows: unknown[]) => void; reject: (error: Error) => void }[] = [];
  const query = (sql: string) => new Promise<unknown[]>((resolve, reject) => waiting.push({ sql, resolve, reject }));
  const marked: number[] = [];
  const mark = { raiseBans: (bans: number) => Promise.resolve(void marked.push(bans)) } as unknown as JournalMark;
  const bans = new Bans({
    database: { query } as unknown as DataSource,
    self: 1,
    signingKey,
    mark,
    logger: pino({ level: 'silent' }),
  });
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  return { bans, marked, waiting, tick };
}

describe('a ban', () => {
  test('every failure waits until it is stored, so that no abort is sent before; it is stored once', async () => {
    const { bans, marked, waiting, tick } = create();
    const done: string[] = [];
    const first = bans.ban('key', 3, 'a failed check').then(() => done.push('first'));
    const second = bans.ban('key', 3, 'another').then(() => done.push('second'));
    const checked = bans.assertNotBanned('key', 3).catch((error: { code: string }) => done.push(error.code));
    await tick();
    expect(done).toEqual([]);
    expect(waiting.map(({ sql }) => /insert into bans/.test(sql))).toEqual([true]);
    waiting[0]?.resolve([]);
    await tick();
    waiting[1]?.resolve([]);
    await Promise.all([first, second, checked]);
    expect(done.sort()).toEqual(['first', 'key_peer_banned', 'second']);
    expect(marked).toEqual([1]);
  });

  test('holds in memory and in the mark while the database does not answer; other keys and peers are not concerned', async () => {
    const { bans, marked, waiting, tick } = create();
    const told: string[] = [];
    bans.onBan((keyId, peer) => told.push(`${keyId}/${peer}`));
    const banned = bans.ban('key', 3, 'a failed check');
    await tick();
    waiting[0]?.reject(new Error('down'));
    await tick();
    waiting[1]?.reject(new Error('down'));
    await banned;
    expect([marked, told]).toEqual([[1], ['key/3']]);
    await expect(bans.assertNotBanned('key', 3)).rejects.toMatchObject({ code: 'key_peer_banned' });
    await expect(bans.assertNotBanned('key', 2)).resolves.toBeUndefined();
    await expect(bans.assertNotBanned('other', 3)).resolves.toBeUndefined();
  });
});
