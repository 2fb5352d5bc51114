import { findMissingOrders } from '../../../src/orders/missing-orders';
import type { AskForOrders, NodeOrders } from '../../../src/orders/node-orders';
import { readShownOrders } from '../../../src/orders/shown-orders';

/** Pages of what nodes show; nothing of it is verified here. */

type Node = 1 | 2 | 3;
const order = (seq: number): string => `a.${Buffer.from(JSON.stringify({ seq })).toString('base64url')}.c`;
const page = (node: Node, seqs: number[], isComplete: boolean): NodeOrders => ({
  node,
  answer: { newest: null, orders: seqs.map((seq) => ({ compact: order(seq), unsigned: null })), is_complete: isComplete },
});
const everything = (node: Node): NodeOrders => page(node, [], true);
type Positions = Parameters<AskForOrders>[0];

test('pages are read until every node has shown its last one, each order once', async () => {
  const asked: Positions[] = [];
  const ask = (after: Positions): Promise<NodeOrders[]> => {
    asked.push(after);
    return Promise.resolve([
      after[1] === 0 ? page(1, [1, 2], false) : page(1, [3], true),
      after[2] === 0 ? page(2, [2, 4], false) : page(2, [], true),
      everything(3),
    ]);
  };
  const shown = await readShownOrders(ask, 0, 10);
  expect(asked).toEqual([
    { 1: 0, 2: 0, 3: 0 },
    { 1: 1, 2: 3 },
  ]);
  expect(shown.orders.map(({ compact, nodes }) => [compact, nodes])).toEqual([
    [order(1), [1]],
    [order(2), [1, 2]],
    [order(4), [2]],
    [order(3), [1]],
  ]);
  expect(shown).toMatchObject({ nodes: [1, 2, 3], isComplete: true, problems: [] });
});

test('a node that shows one small number after the other does not keep the others from showing theirs', async () => {
  const honest = (node: Node, from: number) => {
    const next = Math.floor(from / 100) * 100 + 100;
    return page(node, [next, next + 100], next >= 900);
  };
  const ask = ({ 1: lying, 2: second, 3: third }: Positions): Promise<NodeOrders[]> =>
    Promise.resolve([
      ...(lying === undefined ? [] : [page(1, [(lying ?? 0) + 1], false)]),
      ...(second === undefined ? [] : [honest(2, second ?? 0)]),
      ...(third === undefined ? [] : [honest(3, third ?? 0)]),
    ]);
  const shown = await readShownOrders(ask, 0, 20);
  expect(shown.orders.find(({ compact }) => compact === order(1_000))?.nodes).toEqual([2, 3]);
});

test('two orders of one number are both read, also with the end of a page between them', async () => {
  const later = `${order(2)}x`;
  const all: [number, string][] = [
    [1, order(1)],
    [2, order(2)],
    [2, later],
    [3, order(3)],
  ];
  const ask = (after: Positions): Promise<NodeOrders[]> => {
    const left = all.filter(([seq]) => seq > (after[1] ?? 0)).map(([, compact]) => ({ compact, unsigned: null }));
    const answer = { newest: null, orders: left.slice(0, 2), is_complete: left.length <= 2 };
    return Promise.resolve([{ node: 1, answer }, everything(2), everything(3)]);
  };
  const shown = await readShownOrders(ask, 0, 10);
  expect(shown.orders.map(({ compact }) => compact)).toEqual([order(1), order(2), later, order(3)]);
});

test('a node that claims to have more and shows nothing new does not count', async () => {
  const ask = (): Promise<NodeOrders[]> => Promise.resolve([page(1, [5], false), everything(2), everything(3)]);
  const shown = await readShownOrders(ask, 5, 10);
  expect(shown).toMatchObject({ nodes: [2, 3], isComplete: true, problems: [expect.stringContaining('node 1: ')] });
});

test('a node that fails in between does not count', async () => {
  const asked: Positions[] = [];
  const ask = (after: Positions): Promise<NodeOrders[]> => {
    asked.push(after);
    return Promise.resolve([
      after[1] === 0 ? page(1, [1], false) : { node: 1, problem: 'no response in time' },
      page(2, [(after[2] ?? 0) + 1], (after[2] ?? 0) >= 3),
      everything(3),
    ]);
  };
  expect(await readShownOrders(ask, 0, 10)).toMatchObject({ nodes: [2, 3], problems: ['node 1: no response in time'] });
  // nor is it asked, and waited for, again
  expect(asked).toEqual([{ 1: 0, 2: 0, 3: 0 }, { 1: 1, 2: 1 }, { 2: 2 }, { 2: 3 }]);
});

test('reading ends after the allowed number of questions, and what is missing is not taken for all of it', async () => {
  let asked = 0;
  const ask = (after: Positions): Promise<NodeOrders[]> => {
    asked += 1;
    return Promise.resolve([page(1, [(after[1] ?? 0) + 1], false), everything(2), everything(3)]);
  };
  expect(await readShownOrders(ask, 0, 3)).toMatchObject({ isComplete: false });
  expect(asked).toBe(3);
  const missing = findMissingOrders({ ask, needed: 2, maxRounds: 3 } as never, 0);
  await expect(missing).rejects.toMatchObject({ code: 'signers_unavailable' });
});
