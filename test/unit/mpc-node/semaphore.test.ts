import { Semaphore } from '../../../src/mpc/semaphore';

const newSemaphore = (maxWaitMs = 1_000) => new Semaphore({ limit: 1, maxWaiting: 1, maxWaitMs, what: 'key generations' });
const never = () => new Promise<never>(() => undefined);

describe('Semaphore', () => {
  test('lets the next in when one has finished, also when it failed', async () => {
    const semaphore = newSemaphore();
    const order: string[] = [];
    const first = semaphore.run(() => new Promise<void>((_, reject) => setTimeout(() => reject(new Error('failed')), 10)));
    const second = semaphore.run(() => Promise.resolve(order.push('second')));
    await expect(first).rejects.toThrow('failed');
    await second;
    await semaphore.run(() => Promise.resolve(order.push('third')));
    expect(order).toEqual(['second', 'third']);
  });

  test('refuses at once when the queue is full', async () => {
    const semaphore = newSemaphore();
    void semaphore.run(never);
    void semaphore.run(never).catch(() => undefined);
    await expect(semaphore.run(never)).rejects.toMatchObject({ code: 'signers_unavailable', retryable: true });
  });

  test('refuses after the longest wait and gives the place in the queue free', async () => {
    const semaphore = newSemaphore(10);
    void semaphore.run(never);
    await expect(semaphore.run(never)).rejects.toMatchObject({ code: 'signers_unavailable' });
    await expect(semaphore.run(never)).rejects.toMatchObject({ code: 'signers_unavailable' });
  });
});
