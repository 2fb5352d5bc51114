import { readLiveTronOptions } from './tron-environment';
import { expectPaid, runLiveTron } from './tron-scenario';

/** `npm run test:live`: opt-in, with a node and coins of the Nile test network, from the environment. */

jest.setTimeout(15 * 60_000);

test('a payment on Nile is built, signed, taken by its nodes, solidified and found in its block', async () => {
  const options = readLiveTronOptions();
  const run = await runLiveTron(options);
  expect(run.levels).toMatchObject({ energyPrice: expect.stringMatching(/^[1-9]\d*$/) });
  expectPaid(run, options.token);
});
