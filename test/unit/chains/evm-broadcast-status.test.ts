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
  /** It knows the transaction. */
  isKnown?: boolean;
  /** How it answers what it refuses. */
  asArray?: boolean;
}

/** Answers `eth_sendRawTransaction` like this. */
async function broadcast(status: number, say: Say, { isBatch = true, isKnown = false, asArray = isBatch }: Node = {}) {
  const post = (body: string) => {
    const requests = [JSON.parse(body) as Asked | Asked[]].flat();
    const isSent = requests.some(({ method }) => method === 'eth_sendRawTransaction');
    const said = requests.map((asked) => (isSent ? say(asked) : { id: asked.id, result: isKnown ? {} : null }));
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

test.each<[string, number, Say]>([
  ['without a response', 500, () => undefined],
  ['for all calls, and so perhaps not by a node', 500, () => ({ id: null, error: refusal('invalid sender') })],
  ['about another call', 500, ({ id }) => ({ id: id + 1, error: refusal('invalid sender') })],
  ['with an id that stands for none', 500, () => ({ id: 0, error: refusal('invalid sender') })],
  [
    'as what is there for every call while an endpoint is down',
    503,
    own('service temporarily unavailable, please retry', -32603),
  ],
  ['of a proxy without a node behind it', 502, own('no healthy upstream for chain id 1')],
  ['of a proxy that keeps no more connections', 503, own('connection pool is full')],
  ['of a proxy with a queue', 503, own('too many pending requests')],
  ['of a provider that is not paid', 500, own('insufficient balance')],
  ['in words that nobody knows', 500, own('Oops')],
  ['with a result', 500, ({ id }) => ({ id, result: '0x01' })],
  ['about the rate of requests', 429, own('account limit exceeded')],
])('a refusal %s is none: nobody knows what has become of the bytes', async (_, status, say) => {
  for (const said of await Promise.all([true, false].map((isBatch) => broadcast(status, say, { isBatch })))) {
    expect(said).toBeInstanceOf(NoAnswer);
    expect((said as Error).message).toBe(`no result (HTTP ${status})`);
  }
});
