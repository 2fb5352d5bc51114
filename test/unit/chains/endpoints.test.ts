import { EndpointList } from '../../../src/chains/endpoints';
import { loadRegistry } from '../../../src/chains/registry';

const chain = loadRegistry('local', ['ethereum']).get('ethereum');

/** Endpoints that show these hashes for every block; null: none. */
function listOf(...hashes: (string | null)[]) {
  const endpoints = hashes.map((hash) => ({ host: 'node', identify: () => Promise.resolve(), hash }));
  return new EndpointList(chain, endpoints, () => false);
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
