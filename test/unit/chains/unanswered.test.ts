import { EndpointList } from '../../../src/chains/endpoints';
import { LimitedRequests, NoAnswer } from '../../../src/chains/no-answer';
import { loadRegistry } from '../../../src/chains/registry';
import { unavailableAsNotEstimated } from '../../../src/chains/unanswered';

const chain = loadRegistry('local', ['ethereum']).get('ethereum');

/** Of endpoints that answer everything else. */
function estimate(...failures: Error[]) {
  const endpoints = failures.map((failure) => ({ host: 'node', identify: () => Promise.resolve(), failure }));
  return unavailableAsNotEstimated(
    chain,
    new EndpointList(chain, endpoints).run(({ failure }) => Promise.reject(failure)),
  );
}

test('an estimate that no endpoint answers is told of', async () => {
  await expect(estimate(new NoAnswer('no response in time'))).rejects.toMatchObject({ code: 'not_estimated' });
});

test('one that an endpoint refuses as one request too many is waited for', async () => {
  const limited = new LimitedRequests('no result (HTTP 429)');
  for (const failures of [[limited], [new NoAnswer('no response in time'), limited]])
    await expect(estimate(...failures)).rejects.toMatchObject({ code: 'chain_unavailable' });
});
