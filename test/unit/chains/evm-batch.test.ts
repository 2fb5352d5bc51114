import { createBatchedCall, createSingleCall } from '../../../src/chains/evm/batch';
import { LimitedRequests, NoAnswer } from '../../../src/chains/no-answer';
import type { Answer } from '../../../src/chains/post';
import { NodeRefusal } from '../../../src/chains/evm/refusal';

interface Request {
  id: number;
  method: string;
  params: unknown[];
}

/** A node that answers each request by the test's function; what it was sent. */
function node(answer: (requests: Request[]) => unknown, status = 200) {
  const sent: Request[][] = [];
  const post = (body: string): Promise<Answer> => {
    const requests = JSON.parse(body) as Request[];
    sent.push(requests);
    const text = answer(requests);
    return Promise.resolve({ status, text: typeof text === 'string' ? text : JSON.stringify(text) });
  };
  return { post, sent };
}
const echo = (requests: Request[]) => requests.map(({ id, params }) => ({ id, result: params[0] })).reverse();

test('calls of one moment share requests of a limited size, and each gets its own answer', async () => {
  const { post, sent } = node(echo);
  const call = createBatchedCall(post, 3);
  const answers = await Promise.all(Array.from({ length: 7 }, (_, n) => call<number>('m', [n])));
  expect(answers).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(sent.map((requests) => requests.length)).toEqual([3, 3, 1]);
  expect(await call('m', [8])).toBe(8);
});

test('an error of one call is that of no other; one for all is that of each', async () => {
  const some = node((requests) =>
    requests.map(({ id, params }) =>
      params[0] === 1 ? { id, error: { code: 3, message: 'execution reverted', data: '0x08' } } : { id, result: null },
    ),
  );
  const call = createBatchedCall(some.post, 10);
  const [first, second] = await Promise.allSettled([call('m', [0]), call('m', [1])]);
  expect(first).toEqual({ status: 'fulfilled', value: null });
  expect(second).toMatchObject({ reason: { name: 'NodeRefusal', code: 3, nodeMessage: 'execution reverted', data: '0x08' } });

  const whole = node(() => ({ id: null, error: { code: -32005, message: 'limit exceeded' } }), 400);
  const refused = createBatchedCall(whole.post, 10);
  for (const { reason } of (await Promise.allSettled([refused('m', []), refused('m', [])])) as PromiseRejectedResult[])
    expect(reason).toMatchObject({ name: 'NodeRefusal', code: -32005 });
  expect(whole.sent).toHaveLength(1);
});

test.each<[string, (requests: Request[]) => unknown, number]>([
  ['no JSON', () => '<html>', 200],
  ['another status', () => [], 503],
  ['nothing for the call', () => [{ id: -7, result: 1 }], 200],
  ['null', () => null, 200],
])('%s is no answer', async (_, answer, status) => {
  const failure: unknown = await createBatchedCall(node(answer, status).post, 10)('m', ['0xsecret']).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(Error);
  expect(failure).not.toBeInstanceOf(NodeRefusal);
  expect(String(failure)).not.toContain('secret');
});

test.each([429, 500, 502, 503])(
  'an endpoint that answers with HTTP %d says nothing, whatever it sends with it',
  async (status) => {
    const said = (requests: Request[]) => {
      const error = { code: -32005, message: 'limit exceeded' };
      return Array.isArray(requests) ? requests.map(({ id }) => ({ id, error })) : { id: 0, error };
    };
    const whole = () => ({ id: null, error: { code: 429, message: 'Too many requests' } });
    for (const answer of [said, whole])
      for (const call of [createBatchedCall(node(answer, status).post, 10), createSingleCall(node(answer, status).post)])
        await call('m', []).then(
          () => expect('no answer').toBe('a result'),
          (error: unknown) => {
            expect(error).toEqual(new NoAnswer(`no result (HTTP ${status})`));
            expect(error instanceof LimitedRequests).toBe(status === 429);
          },
        );
  },
);

test('a request that fails is made once more, and one that was refused is not', async () => {
  for (const create of [(post: (body: string) => Promise<Answer>) => createBatchedCall(post, 10), createSingleCall]) {
    let tries = 0;
    const flaky = node((requests) => {
      if ((tries += 1) === 1) return 'away';
      return Array.isArray(requests) ? echo(requests) : { id: 0, result: 5 };
    });
    expect(await create(flaky.post)('m', [5])).toBe(5);
    expect(flaky.sent).toHaveLength(2);
    const refusing = node((requests) => {
      const error = { code: -32000, message: 'no' };
      return Array.isArray(requests) ? requests.map(({ id }) => ({ id, error })) : { id: 0, error };
    });
    await expect(create(refusing.post)('m', [])).rejects.toMatchObject({ code: -32000 });
    expect(refusing.sent).toHaveLength(1);
  }
});
