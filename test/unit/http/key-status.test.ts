import { KeyStatus } from '../../../src/auth/key-status';
import type { CredentialRepository } from '../../../src/auth/repository';

const caller = { clientId: 'c', userId: 'u', keyId: 'k' };

function create() {
  let now = 0;
  const isUsable = jest.fn<Promise<boolean>, []>();
  const keys = new KeyStatus({ isUsable } as unknown as CredentialRepository, () => now);
  return { keys, isUsable, wait: (ms: number) => void (now += ms) };
}

test('queries once within 4 s, concurrent requests included, and again afterwards', async () => {
  const { keys, isUsable, wait } = create();
  isUsable.mockResolvedValue(true);
  expect(await Promise.all([keys.isUsable(caller), keys.isUsable(caller)])).toEqual([true, true]);
  wait(3_999);
  await keys.isUsable(caller);
  expect(isUsable).toHaveBeenCalledTimes(1);
  wait(1);
  isUsable.mockResolvedValue(false);
  expect(await keys.isUsable(caller)).toBe(false);
});

test('a failed query is not cached', async () => {
  const { keys, isUsable } = create();
  isUsable.mockRejectedValueOnce(new Error('down')).mockResolvedValue(true);
  await expect(keys.isUsable(caller)).rejects.toThrow('down');
  expect(await keys.isUsable(caller)).toBe(true);
});

test('caches a bounded number of keys', async () => {
  const { keys, isUsable } = create();
  isUsable.mockResolvedValue(true);
  for (let i = 0; i <= 10_000; i += 1) await keys.isUsable({ ...caller, keyId: `k${i}` });
  await keys.isUsable({ ...caller, keyId: 'k10000' });
  expect(isUsable).toHaveBeenCalledTimes(10_001);
  await keys.isUsable({ ...caller, keyId: 'k0' });
  expect(isUsable).toHaveBeenCalledTimes(10_002);
});
