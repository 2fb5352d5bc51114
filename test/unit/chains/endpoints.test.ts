import { EndpointFault, EndpointList, NotEstimated, orNotEstimated } from '../../../src/chains/endpoints';
import { NoAnswer } from '../../../src/chains/no-answer';
import { offer, type Offered, toRefused, toTrouble, toUnknownRefusal, unlessKnown } from '../../../src/chains/offer';
import { loadRegistry } from '../../../src/chains/registry';

const chain = loadRegistry('local', ['ethereum']).get('ethereum');

/** Endpoints that show these hashes for every block; null: none. */
function listOf(...hashes: (string | null)[]) {
  const endpoints = hashes.map((hash) => ({ host: 'node', identify: () => Promise.resolve(), hash }));
  return new EndpointList(chain, endpoints);
}
const preferred = (list: ReturnType<typeof listOf>) => list.run(({ hash }) => Promise.resolve(hash));
const compare = (list: ReturnType<typeof listOf>, expected: string) =>
  list.compare(({ hash }) => Promise.resolve(hash), expected);

describe('a block that endpoints are compared by', () => {
  test('is counted with those that have an answer', async () => {
    expect(await compare(listOf('a', 'a', 'b', null), 'a')).toEqual({ same: 2, different: 1 });
  });

  test('of three endpoints, the first of which is alone with its block: one of the others is preferred, also after work that began before', async () => {
    const list = listOf('a', 'b', 'b');
    let finish: () => void = () => undefined;
    const begun = list.run(({ hash }) => new Promise((resolve) => (finish = () => resolve(hash))));
    expect(await compare(list, 'a')).toEqual({ same: 1, different: 2 });
    finish();
    expect(await begun).toBe('a');
    expect(await preferred(list)).toBe('b');
  });

  test.each([
    ['two that differ', ['a', 'b']],
    ['three that all differ', ['a', 'b', 'c']],
    ['two of each', ['a', 'a', 'b', 'b']],
  ])('%s: none is preferred to the first', async (_, hashes) => {
    const list = listOf(...hashes);
    await compare(list, 'a');
    expect(await preferred(list)).toBe('a');
  });
});

describe('the endpoint that has taken bytes', () => {
  const view = { outcome: 'waiting', reason: 'nonce too high', passing: 'view', mayTakeElsewhere: true } as const;
  const late: Offered = { ...view, reason: 'nonce too low', hasSeenMore: true };

  test.each<[string, Offered, string]>([
    ['that the one before was behind for: it is asked first from now on', view, 'b'],
    ['that the one before has seen the end of: it may be behind, and is not', late, 'a'],
    ['that the one before has seen the end of, and cannot be asked for: the same', { ...late, isTrouble: true }, 'a'],
  ])('%s', async (_, refusal, first) => {
    const list = listOf('a', 'b');
    const say = ({ hash }: { hash: string | null }): Offered => (hash === 'a' ? refusal : { outcome: 'accepted' });
    expect(await offer(list, (endpoint) => Promise.resolve(say(endpoint)))).toEqual({ outcome: 'accepted' });
    expect(await preferred(list)).toBe(first);
  });
});

describe('bytes that no endpoint takes', () => {
  const trouble = toTrouble(-32603, 'Internal error at 0x1234');
  const waits = { outcome: 'waiting', reason: 'refused by the node (code -32603): Internal error at', passing: 'unknown' };
  const unknown = toUnknownRefusal(-32000, 'Oops');
  const silent = new NoAnswer('no response in time');
  const unread = new TypeError('Cannot read 0xsecret');
  const other = new Error('the answer is about another transaction');
  const full = { outcome: 'waiting', reason: 'the pool of the node is full', passing: 'price' } as const;
  const notAll = 'not every endpoint answers';
  const odd = {
    ...{ outcome: 'waiting', passing: 'unknown' },
    reason: 'no endpoint takes it; they answer: the answer cannot be read; the answer is about another transaction',
  };

  test.each<[string, (Offered | Error)[], object]>([
    ['every one answers with a trouble of its own', [trouble, trouble], waits],
    ['one has a trouble, and one an answer that nobody can read', [unread, trouble], waits],
    ['every one has an answer that nobody can use', [unread, other], odd],
    [
      'one has a trouble, and one refuses them: that counts',
      [trouble, unknown],
      { outcome: 'waiting', reason: 'refused by the node (code -32000): Oops', passing: 'unknown' },
    ],
    ['one has a trouble, and one takes them', [trouble, { outcome: 'accepted' }], { outcome: 'accepted' }],
    ['one has a trouble, and one does not answer', [trouble, silent], { ...waits, reason: `${waits.reason}; ${notAll}` }],
    [
      'one has an answer that nobody can read, and one does not answer',
      [silent, unread],
      { ...waits, reason: `no endpoint takes it; they answer: the answer cannot be read; ${notAll}` },
    ],
    [
      'one has a trouble, and one refuses them but does not say whether it has them: its words are known',
      [trouble, { ...full, mayTakeElsewhere: true, isTrouble: true }],
      full,
    ],
  ])('%s', async (_, answers, outcome) => {
    expect(await offerTo(answers)).toEqual(outcome);
  });

  test('none answers: nobody knows what has become of them, and nobody is to be told', async () => {
    await expect(offerTo([silent, silent])).rejects.toMatchObject({ code: 'chain_unavailable' });
  });

  const offerTo = (answers: (Offered | Error)[]) => {
    const endpoints = answers.map((answer) => ({ host: 'node', identify: () => Promise.resolve(), answer }));
    return offer(new EndpointList(chain, endpoints), ({ answer }) =>
      answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer),
    );
  };

  test.each(['rate limit exceeded', 'Too Many Requests'])('"%s" is no trouble: the endpoint has said nothing', (message) => {
    expect(() => toTrouble(-32603, message)).toThrow(new NoAnswer('the endpoint limits requests'));
  });
});

describe('bytes that an endpoint refuses, and may have', () => {
  const late = toRefused({ reason: 'nonce too low', passing: 'unknown', hasSeenMore: true });
  const bad = toRefused({ reason: 'bad signature' });
  const fails = () => Promise.reject(new NoAnswer('no response in time'));

  test('are accepted where it has them, and refused where it has not', async () => {
    expect(await unlessKnown(late, () => Promise.resolve(true))).toEqual({ outcome: 'accepted' });
    expect(await unlessKnown(bad, () => Promise.resolve(true))).toEqual({ outcome: 'accepted' });
    expect(await unlessKnown(late, () => Promise.resolve(false))).toEqual(late);
    expect(await unlessKnown(bad, () => Promise.resolve(false))).toEqual(bad);
  });

  test('where it does not say, it has a trouble: others are asked, those that take them may lag, and nothing is refused for good', async () => {
    expect(await unlessKnown(late, fails)).toEqual({ ...late, isTrouble: true });
    expect(await unlessKnown(bad, fails)).toEqual({
      ...{ outcome: 'waiting', reason: 'bad signature', passing: 'unknown' },
      ...{ mayTakeElsewhere: true, hasSeenMore: true, isTrouble: true },
    });
  });
});

describe('what an attempt is to be made of', () => {
  const refusal = Object.assign(new Error('the node refused with code -32603'), { name: 'NodeRefusal' });
  const unknown = new NotEstimated('the account has less than it takes');
  const fault = new EndpointFault('fees_not_believed', 'a tip is not believed');
  const unread = new TypeError('Cannot read 0xsecret');
  const silent = new NoAnswer('no response in time');

  /** Endpoints that fail so; null: one that cannot be identified. */
  const ask = (...errors: (Error | null)[]) => {
    const endpoints = errors.map((error) => ({
      ...{ host: 'node', error },
      identify: () => (error ? Promise.resolve() : Promise.reject(new Error('the node refused with code -32005'))),
    }));
    const list = new EndpointList(chain, endpoints);
    return orNotEstimated(chain, () => list.run(({ error }) => Promise.reject(error as Error)));
  };
  const all = 'The endpoints of ethereum answer, and none says what this transaction takes: ';
  const some = 'Of the endpoints of ethereum some do not answer, and none says what this transaction takes: ';

  test.each<[string, (Error | null)[], string, string]>([
    ['every endpoint refuses', [refusal, refusal], 'not_estimated', `${all}the node refused with code -32603`],
    [
      'one refuses, and one has an answer that nobody can read: its words are not shown',
      [refusal, unread],
      'not_estimated',
      `${all}the node refused with code -32603; the answer cannot be read`,
    ],
    ['one refuses, and one does not answer', [refusal, silent], 'not_estimated', `${some}the node refused with code -32603`],
    [
      'one does not say who it is, and one has an answer that nobody can read',
      [null, unread],
      'not_estimated',
      `${some}the answer cannot be read`,
    ],
    ['none answers', [silent, silent], 'chain_unavailable', 'ethereum: no RPC endpoint responded'],
    ['one says that it is too little, and one does not answer', [silent, unknown], 'not_estimated', unknown.message],
    [
      'one is not believed, and one says that it is too little: both are said',
      [fault, unknown],
      'not_estimated',
      `${unknown.message}; of another endpoint a tip is not believed`,
    ],
    ['one is not believed, and one refuses', [fault, refusal], 'chain_unavailable', 'ethereum: a tip is not believed'],
  ])('%s', async (_, errors, code, message) => {
    await expect(ask(...errors)).rejects.toMatchObject({ code, message });
  });

  test('other work that every endpoint refuses is unavailable', async () => {
    await expect(listOf('a').run(() => Promise.reject(refusal))).rejects.toMatchObject({ code: 'chain_unavailable' });
  });
});
