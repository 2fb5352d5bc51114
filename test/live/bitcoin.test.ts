import { readLiveOptions } from './environment';
import { LivePayment } from './scenario';

/** `npm run test:live`: opt-in, with nodes and coins of a test network, from the environment. */

jest.setTimeout(15 * 60_000);

test('a payment on a test network is built, signed, taken by its nodes, and seen in their pool', async () => {
  const payment = new LivePayment(readLiveOptions());
  const { client } = payment;
  await client.verifyIdentity();
  expect(await client.feeLevels()).toEqual({ rate: expect.stringMatching(/^[1-9]\d*$/) });
  const { attempt, send, status } = await payment.pay();
  const [id] = attempt.ids as [string];
  expect(await send()).toEqual({ outcome: 'accepted' });
  expect(await send()).toEqual({ outcome: 'accepted' });
  expect(await status()).toMatchObject({ state: expect.stringMatching(/^(pending|included)$/) });
  expect(await client.pool.findGone([id, 'ab'.repeat(32)])).toEqual(['ab'.repeat(32)]);
  const [output] = attempt.intent.outputs;
  expect(await client.pool.deposits([id], payment.isOurs)).toMatchObject([
    { txHash: id, fromAddress: attempt.intent.from, toAddress: output?.recipient, amount: output?.amount },
  ]);
});
