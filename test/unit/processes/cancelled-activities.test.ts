import { MockActivityEnvironment } from '@temporalio/testing';
import { untilCancelled, withMappedErrors } from '../../../activities/errors';
import { GatewayError } from '../../../src/platform/errors';
import { createLogger } from '../../../src/platform/logging';

/** What the activities of a process answer when its worker cancels them, since the process stops. */

const logger = createLogger('test', 'silent');
const served = <T extends object>(activities: T): T =>
  withMappedErrors(untilCancelled(activities, 'this node is stopping'), logger);

test('one that has not ended fails as what may be asked for again, and its late failure is nobody’s', async () => {
  let fail: (error: Error) => void = () => undefined;
  const activities = served({ wait: () => new Promise<never>((_resolve, reject) => (fail = reject)) });
  const environment = new MockActivityEnvironment();
  const ended = environment.run(activities.wait);
  const expected = { type: 'signers_unavailable', message: 'this node is stopping', nonRetryable: false };
  environment.cancel('WORKER_SHUTDOWN');
  await expect(ended).rejects.toMatchObject(expected);
  fail(new Error('its database was slow'));
  await new Promise((resolve) => setImmediate(resolve));
});

test('one that ends before answers as it does otherwise', async () => {
  const refused = new GatewayError('order_refused', 'exp: the order has expired');
  const activities = served({ answer: () => Promise.resolve(7), refuse: () => Promise.reject(refused) });
  expect(await new MockActivityEnvironment().run(activities.answer)).toBe(7);
  await expect(new MockActivityEnvironment().run(activities.refuse)).rejects.toMatchObject({ type: 'order_refused' });
});

test('one whose time is over takes its place until its work ends', async () => {
  let end: (value: number) => void = () => undefined;
  const activities = served({ wait: () => new Promise<number>((resolve) => (end = resolve)) });
  const environment = new MockActivityEnvironment();
  const ended = environment.run(activities.wait);
  environment.cancel('TIMED_OUT');
  const first = await Promise.race([ended, new Promise((resolve) => setTimeout(() => resolve('still works'), 50))]);
  expect(first).toBe('still works');
  end(7);
  expect(await ended).toBe(7);
});
