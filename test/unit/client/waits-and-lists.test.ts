import { ClientError, ProblemError, WaitTimeoutError } from '../../../client/src';
import { type FakeGateway, json, problem, type Reply, reset, startFakeGateway } from './fake-gateway';

let fake: FakeGateway;
beforeEach(async () => {
  fake = await startFakeGateway();
});
afterEach(() => fake.close());

const status = (name: string) => json(200, { tx_id: 't', status: name });
const quick = { intervalMs: 1 };

describe('waiting', () => {
  test.each(['CONFIRMED', 'FAILED', 'REJECTED', 'CANCELLED'])('a transfer is over when it is %s', async (end) => {
    const states = ['PENDING', 'SIGNING', 'NEEDS_ATTENTION', 'SUBMITTED', end];
    fake.replies = states.map(status);
    const read: string[] = [];
    const ended = await fake.client().waitForTransfer('t', { ...quick, onRead: (state) => read.push(state.status) });
    expect(ended.status).toBe(end);
    expect(read).toEqual(states);
    expect(fake.seen[0]?.url).toBe('/api/v1/transactions/t');
  });

  test('goes on while the gateway does not answer, and ends with a refusal', async () => {
    fake.replies = [reset, problem(503, 'unavailable', {}, { 'retry-after': '0' }), status('PENDING'), problem(404, 'not_found')];
    const client = fake.client({ limits: { attempts: 1, pauseMs: 1 } });
    await expect(client.waitForTransfer('t', quick)).rejects.toThrow(ProblemError);
    expect(fake.seen).toHaveLength(4);
  });

  test('ends after its time, also during a request', async () => {
    fake.replies = [status('PENDING')];
    const late = fake.client().waitForTransfer('t', { ...quick, timeoutMs: 300 });
    await expect(late).rejects.toThrow(new WaitTimeoutError('waited 0.3 s for the end of transfer t'));
    fake.replies = [() => undefined];
    await expect(fake.client().waitForTransfer('t', { ...quick, timeoutMs: 300 })).rejects.toThrow(WaitTimeoutError);
  });

  test.each([
    [{ timeoutMs: 2_147_483_648 }, 'timeoutMs has to be a number from 0 to 2147483647'],
    [{ timeoutMs: NaN }, 'timeoutMs has to be a number from 0 to 2147483647'],
    [{ intervalMs: 0 }, 'intervalMs has to be a number from 1 to 2147483647'],
    [{ intervalMs: 2_147_483_648 }, 'intervalMs has to be a number from 1 to 2147483647'],
  ])('%j is refused before anything is sent', async (times, message) => {
    await expect(fake.client().waitForTransfer('t', times)).rejects.toThrow(new TypeError(message));
    expect(fake.tokens).toHaveLength(0);
  });

  test('ends with its signal', async () => {
    fake.replies = [status('PENDING')];
    const controller = new AbortController();
    const onRead = () => controller.abort(new Error('enough'));
    await expect(fake.client().waitForTransfer('t', { onRead, signal: controller.signal })).rejects.toThrow('enough');
    await expect(fake.client().waitForTransfer('t', { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow(
      'before',
    );
  });

  test('a wallet is ready when both it and its key are ACTIVE', async () => {
    const states = [
      ['PROGRESSING', 'GENERATING'],
      ['SUSPENDED', 'ACTIVE'],
      ['ACTIVE', 'GENERATING'],
      ['ACTIVE', 'ACTIVE'],
    ];
    fake.replies = states.map(([wallet, key]) => json(200, { status: wallet, key_status: key }));
    await fake.client().waitForWallet('w', quick);
    expect(fake.seen).toHaveLength(4);
  });
});

describe('lists', () => {
  const read = async (list: AsyncIterable<object>) => {
    const items = [];
    for await (const item of list) items.push(item);
    return items;
  };
  const queries = () => fake.seen.map(({ url }) => Object.fromEntries(new URL(url, 'http://x').searchParams));

  test('by cursor, with the same filters, until next is null', async () => {
    fake.replies = [
      json(200, { data: [{ tx_id: 'c' }, { tx_id: 'b' }], has_more: true, next: 'b' }),
      json(200, { data: [{ tx_id: 'a' }], has_more: false, next: null }),
    ];
    const list = fake.client().list('/transactions', { params: { query: { chain: 'base', page_size: 2 } } });
    expect(await read(list)).toEqual([{ tx_id: 'c' }, { tx_id: 'b' }, { tx_id: 'a' }]);
    expect(queries()).toEqual([
      { chain: 'base', page_size: '2' },
      { chain: 'base', page_size: '2', after: 'b' },
    ]);
  });

  test('by number where there is no cursor', async () => {
    fake.replies = [
      json(200, { data: [{ wallet_id: '1' }], has_more: true }),
      json(200, { data: [{ wallet_id: '2' }], has_more: true }),
      json(200, { data: [{ wallet_id: '3' }], has_more: false }),
    ];
    expect(await read(fake.client().list('/wallets'))).toHaveLength(3);
    expect(queries()).toEqual([{ page_size: '100' }, { page_size: '100', page: '2' }, { page_size: '100', page: '3' }]);
  });

  test('a page is asked for when it is needed', async () => {
    fake.replies = [json(200, { data: [{ tx_id: 'b' }], has_more: true, next: 'b' })];
    for await (const { tx_id } of fake.client().list('/transactions')) {
      expect(tx_id).toBe('b');
      break;
    }
    expect(fake.seen).toHaveLength(1);
  });

  test.each<[string, Reply, boolean]>([
    ['a cursor that stays', json(200, { data: [{ tx_id: 'b' }], has_more: true, next: 'b' }), true],
    ['an empty page that has more', json(200, { data: [], has_more: true }), false],
  ])('%s does not go on for ever', async (_, reply, fails) => {
    fake.replies = [reply];
    const list = read(fake.client().list('/transactions'));
    await (fails ? expect(list).rejects.toThrow(ClientError) : expect(list).resolves.toEqual([]));
    expect(fake.seen.length).toBeLessThanOrEqual(2);
  });

  test('a refusal ends it', async () => {
    fake.replies = [json(200, { data: [{ tx_id: 'b' }], has_more: true, next: 'b' }), problem(400, 'invalid_parameter')];
    await expect(read(fake.client().list('/transactions'))).rejects.toThrow(ProblemError);
  });
});
