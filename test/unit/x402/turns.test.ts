import { Turns } from '../../../src/x402/turns';

/** Nobody waits behind everything that another client asks for. */

const never = () => new Promise<never>(() => undefined);

test('a client that takes all of its turns takes none of another’s, and gets them back', async () => {
  const turns = new Turns({ permits: 2, maxWaiting: 1, maxWaitMs: 60_000 });
  const ends: (() => void)[] = [];
  const held = [1, 2].map(() => turns.run('busy', () => new Promise<void>((resolve) => ends.push(resolve))));
  const waiting = turns.run('busy', () => Promise.resolve('waited'));
  await expect(turns.run('busy', never)).rejects.toMatchObject({ code: 'chain_unavailable' });
  expect(await turns.run('other', () => Promise.resolve('at once'))).toBe('at once');
  ends.forEach((end) => end());
  await Promise.all(held);
  expect(await waiting).toBe('waited');
  await expect(turns.run('busy', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await turns.run('busy', () => Promise.resolve('again'))).toBe('again');
});

test('whoever waits for too long is refused', async () => {
  const turns = new Turns({ permits: 1, maxWaiting: 1, maxWaitMs: 20 });
  void turns.run('busy', never);
  await expect(turns.run('busy', never)).rejects.toMatchObject({ code: 'chain_unavailable' });
});
