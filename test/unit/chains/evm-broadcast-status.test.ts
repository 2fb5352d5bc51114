import { createBatchedCall, createSingleCall } from '../../../src/chains/evm/batch';
import { broadcastTo } from '../../../src/chains/evm/broadcast';
import { NoAnswer } from '../../../src/chains/no-answer';

/** What is believed of an endpoint that answers a broadcast with the HTTP status of a failure, as some servers and proxies do where a node refuses. */

interface Asked {
  id: number;
  method: string;
}

type Say = (asked: Asked) => unknown;
const refusal = (message: string, code = -32000) => ({ code, message });
const own =
  (message: string, code?: number): Say =>
  ({ id }) => ({ id, error: refusal(message, code) });

interface Node {
  /** How it is asked. */
  isBatch?: boolean;
  /** It knows the transaction; `silent`: it does not say. */
  isKnown?: boolean | 'silent';
  /** How it answers what it refuses. */
  asArray?: boolean;
}

/** Answers `eth_sendRawTransaction` like this. */
async function broadcast(status: number, say: Say, { isBatch = true, isKnown = false, asArray = isBatch }: Node = {}) {
  const post = (body: string) => {
    const requests = [JSON.parse(body) as Asked | Asked[]].flat();
    const isSent = requests.some(({ method }) => method === 'eth_sendRawTransaction');
    const said = requests.map((asked) => (isSent ? say(asked) : { id: asked.id, result: isKnown ? {} : null }));
    if (!isSent && isKnown === 'silent') return Promise.reject(new NoAnswer('no response in time'));
    const isList = isSent ? asArray : isBatch;
    return Promise.resolve({ status: isSent ? status : 200, text: JSON.stringify(isList ? said : said[0]) });
  };
  const call = isBatch ? createBatchedCall(post, 10) : createSingleCall(post);
  return broadcastTo(call, '0x02').catch((error: unknown) => error);
}

const taken = { outcome: 'accepted' };
const believed = [
  ['invalid sender', { outcome: 'rejected', mayTakeElsewhere: false }],
  ['insufficient funds for gas * price + value', { outcome: 'waiting', passing: 'view' }],
  ['transaction underpriced', { outcome: 'waiting', passing: 'price' }],
  ['already known', { outcome: 'waiting', passing: 'view' }],
  ['nonce too low: next nonce 7, tx nonce 5', { outcome: 'waiting', passing: 'unknown', hasSeenMore: true }],
] as const;

describe.each([400, 500])('HTTP %d', (status) => {
  test.each(believed)('with "%s" about the bytes: that is what the node says', async (message, said) => {
    const ways: Node[] = [{ asArray: true }, { asArray: false }, { isBatch: false }];
    expect(await Promise.all(ways.map((way) => broadcast(status, own(message), way)))).toMatchObject([said, said, said]);
  });

  test.each(['already known', 'nonce too low', 'transaction underpriced'])(
    'with "%s", of bytes that the node knows: it has them',
    async (message) => expect(await broadcast(status, own(message), { isKnown: true })).toEqual(taken),
  );
});

test.each([
  ['Transaction gas limit exceeds block gas limit', -32005, { outcome: 'rejected', mayTakeElsewhere: true }],
  ['nonce too low', -32603, { outcome: 'waiting', passing: 'unknown', hasSeenMore: true }],
  ['replacement transaction underpriced', -32603, { outcome: 'waiting', passing: 'price' }],
  ['txpool is full', -32603, { outcome: 'waiting', passing: 'price' }],
])('"%s" with the code of a trouble (%d): no one but a node says so', async (message, code, said) => {
  for (const isBatch of [true, false]) expect(await broadcast(200, own(message, code), { isBatch })).toMatchObject(said);
});

test('"nonce too low" of a node that does not say whether it has the transaction: it has seen more than one that takes it all the same', async () => {
  for (const isBatch of [true, false])
    expect(await broadcast(200, own('nonce too low'), { isBatch, isKnown: 'silent' })).toEqual({
      ...{ outcome: 'waiting', reason: 'nonce too low: another transaction has used it', passing: 'unknown' },
      ...{ mayTakeElsewhere: true, hasSeenMore: true, isTrouble: true },
    });
});

/** What counts once every endpoint answers, and none says more. */
const trouble = (reason: string) => ({ outcome: 'waiting', reason, passing: 'unknown', mayTakeElsewhere: true, isTrouble: true });

test.each<[string, number, Say, string]>([
  ['as what there is for every call during an outage', 503, own('please retry', -32603), 'code -32603): please retry'],
  ['of a proxy without a node', 502, own('no healthy upstream for chain id 1'), 'code -32000): no healthy upstream for chain id'],
  ['of a proxy that keeps no more connections', 503, own('connection pool is full'), 'code -32000): connection pool is full'],
  ['of a proxy with a queue', 503, own('too many pending requests'), 'code -32000): too many pending requests'],
  ['of a provider that is not paid', 500, own('insufficient balance'), 'code -32000): insufficient balance'],
  ['in words that nobody knows', 500, own('Oops'), 'code -32000): Oops'],
  ['in those of a node, with the status of an answer', 200, own('Internal error', -32603), 'code -32603): Internal error'],
  ['of a node that has no such method', 200, own('', -32601), 'code -32601)'],
  [
    'of a proxy that has no upstream of the chain',
    200,
    own('could not resolve chainId', -32603),
    'code -32603): could not resolve chainId',
  ],
  ['of a gateway that is out of connections', 200, own('pool is full', -32603), 'code -32603): pool is full'],
  ['of a node that lacks blocks', 200, own('header not found'), 'code -32000): header not found'],
])('a refusal %s is a trouble of the endpoint, and says nothing about the bytes', async (_, status, say, words) => {
  for (const isBatch of [true, false])
    expect(await broadcast(status, say, { isBatch })).toEqual(trouble(`refused by the node (${words}`));
});

test.each<[number, number, string]>([
  [200, -32005, 'daily request count exceeded'],
  [200, 429, 'Monthly quota'],
  [200, -32012, 'over capacity'],
  [200, -32016, 'over its rate'],
  [200, -32603, 'Your app has exceeded its compute units per second capacity'],
  [200, -32000, 'rate limit exceeded'],
  [200, -32000, 'rate limit: chain id 1 quota'],
  [200, -32005, 'gas limit of the month exceeded'],
  [503, -32005, 'limit exceeded'],
  [500, -32000, 'Too many requests'],
])('HTTP %d with code %d and "%s": the endpoint limits requests, and has said nothing', async (status, code, message) => {
  for (const isBatch of [true, false])
    expect(await broadcast(status, own(message, code), { isBatch })).toEqual(new NoAnswer('the endpoint limits requests'));
});

test.each<[string, number, Say]>([
  ['without a response', 500, () => undefined],
  ['for all calls, and so perhaps not by a node', 500, () => ({ id: null, error: refusal('invalid sender') })],
  ['about another call', 500, ({ id }) => ({ id: id + 1, error: refusal('invalid sender') })],
  ['with an id that stands for none', 500, () => ({ id: 0, error: refusal('invalid sender') })],
  ['with a result', 500, ({ id }) => ({ id, result: '0x01' })],
  ['about the rate of requests', 429, own('account limit exceeded')],
])('a refusal %s is none: nobody knows what has become of the bytes', async (_, status, say) => {
  for (const said of await Promise.all([true, false].map((isBatch) => broadcast(status, say, { isBatch })))) {
    expect(said).toBeInstanceOf(NoAnswer);
    expect((said as Error).message).toBe(`no result (HTTP ${status})`);
  }
});
