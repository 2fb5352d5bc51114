import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseUnits } from 'viem';
import { ChainAlarms } from '../../../src/following/chain-alarms';
import { describeFamilies, type FamilyScene } from '../families/scene';

/** What the follower does where two endpoints show different blocks: the same in every family. What else it does is in doubted.test.ts. */

jest.setTimeout(120_000);

const closed: (() => void)[] = [];
afterEach(() => {
  for (const close of closed.splice(0)) close();
});

/** An endpoint of the same node, in whose answers these texts are replaced by others as long as `lies` is true. */
async function startOther(node: string) {
  const other = { url: '', lies: true, hashes: new Map<string, string>() };
  const { origin, pathname, username, password } = new URL(node);
  const authorization = username && `Basic ${Buffer.from(`${username}:${decodeURIComponent(password)}`).toString('base64')}`;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const target = `${origin}${pathname === '/' ? '' : pathname}${request.url ?? ''}`;
      const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
      void fetch(target, { method: 'POST', headers, body: Buffer.concat(chunks) })
        .then(async (said) => ({ status: said.status, text: await said.text() }))
        .then(
          ({ status, text }) => response.writeHead(status).end(other.lies ? falsify(text, other.hashes) : text),
          () => response.destroy(),
        );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closed.push(() => {
    server.close();
    server.closeAllConnections();
  });
  other.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return other;
}

const falsify = (text: string, hashes: ReadonlyMap<string, string>): string =>
  [...hashes].reduce((changed, [hash, other]) => changed.replaceAll(hash, other), text);

/** Another hash of the same form. */
const flip = (hash: string): string => hash.slice(0, -1) + (hash.endsWith('1') ? '2' : '1');

describeFamilies('blocks that two endpoints show', ({ symbol, decimals, amount }, create) => {
  let scene: FamilyScene;
  beforeEach(async () => {
    scene = await create({});
  });
  afterEach(() => scene.close());

  const worth = parseUnits(amount('0.5'), decimals);
  const statuses = async () => (await scene.inbound()).map(({ status }) => status);
  const available = async () => (await scene.balance(scene.alice, symbol)).available;
  /** A deposit that is deep enough, and hashes of the blocks since before it. */
  const deposit = async (): Promise<string[]> => {
    const { client, chain } = scene;
    const { number: before } = await client.head();
    await scene.deposit(scene.alice, worth);
    await scene.mine(chain.confirmations + 1);
    const { number: head } = await client.head();
    const numbers = Array.from({ length: head - before + 1 }, (_, index) => before + index);
    const blocks = await Promise.all(numbers.map((number) => client.block(number)));
    return blocks.flatMap((block) => (block ? [block.hash] : []));
  };

  test('differ: nothing in them is credited, and operators are alarmed, until both show the same', async () => {
    const other = await startOther(scene.url);
    for (const hash of await deposit()) other.hashes.set(hash, flip(hash));
    const two = scene.clientAt(scene.url, other.url);
    const logged: string[] = [];
    const error = ({ alert }: { alert: string }) => void logged.push(alert);
    const chainAlarms = new ChainAlarms({ error, info: () => undefined } as never);
    await scene.follow({ client: two, chainAlarms });
    expect([await statuses(), await available(), logged]).toEqual([['DETECTED'], 0n, ['blocks_not_agreed']]);
    const number = (await two.head()).number - scene.chain.confirmations + 1;
    const shown = await scene.client.block(number);
    expect(await two.compareBlock?.(number, shown?.hash ?? '')).toEqual({ same: 1, different: 1 });

    other.lies = false;
    await scene.follow({ client: two, chainAlarms });
    expect([await statuses(), await available(), chainAlarms.details]).toEqual([['CONFIRMED'], worth, {}]);
    expect(await two.compareBlock?.(number, shown?.hash ?? '')).toEqual({ same: 2, different: 0 });
  });

  test('cannot be compared while one is out; with one endpoint there is nothing to compare', async () => {
    await deposit();
    const one = scene.clientAt(scene.url);
    expect(one.compareBlock).toBeUndefined();
    await scene.follow({ client: scene.clientAt(scene.url, 'http://127.0.0.1:9') });
    expect([await statuses(), await available()]).toEqual([['DETECTED'], 0n]);
    await scene.mine();
    await scene.follow({ client: one });
    expect([await statuses(), await available()]).toEqual([['CONFIRMED'], worth]);
  });
});
