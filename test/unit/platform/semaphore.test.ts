import { Semaphore } from '../../../src/platform/semaphore';

const newSemaphore = (maxWaitMs = 1_000) => new Semaphore({ permits: 1, maxWaiting: 1, maxWaitMs });

describe('Semaphore', () => {
  test('passes a released permit to the caller that waits', async () => {
    const semaphore = newSemaphore();
    expect(await semaphore.acquire()).toBe(true);
    const waiting = semaphore.acquire();
    expect(semaphore.tryAcquire()).toBe(false);
    semaphore.release();
    expect(semaphore.tryAcquire()).toBe(false);
    expect(await waiting).toBe(true);
    semaphore.release();
    expect(semaphore.idle).toBe(true);
  });

  test('refuses immediately when the queue is full', async () => {
    const semaphore = newSemaphore();
    await semaphore.acquire();
    void semaphore.acquire();
    expect(await semaphore.acquire()).toBe(false);
  });

  test('refuses after the longest wait and frees the place in the queue', async () => {
    const semaphore = newSemaphore(10);
    await semaphore.acquire();
    expect(await semaphore.acquire()).toBe(false);
    expect(await semaphore.acquire()).toBe(false);
    semaphore.release();
    expect(await semaphore.acquire()).toBe(true);
  });

  test('applies a lower limit than the usual one', async () => {
    const semaphore = new Semaphore({ permits: 2, maxWaiting: 1, maxWaitMs: 10 });
    expect(await semaphore.acquire()).toBe(true);
    expect(semaphore.tryAcquire(1)).toBe(false);
    expect(semaphore.tryAcquire()).toBe(true);
  });
});
