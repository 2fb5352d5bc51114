import { newOutside } from '../bitcoin/fixture';
import { describeWithBtcd, startTestBtcd, type TestBtcd } from '../../stack/btcd';

describeWithBtcd('the blocks of a local Bitcoin chain', () => {
  let btcd: TestBtcd;
  beforeAll(async () => {
    btcd = await startTestBtcd();
  }, 60_000);
  afterAll(() => btcd.stop());

  const tip = async () => {
    const height = await btcd.node.height();
    return [height, await btcd.node.hashAt(height)];
  };

  test('are there again after the node was started again, also those of a reorganisation; what waits for one is forgotten', async () => {
    const { node } = btcd;
    await node.fund(newOutside(), 1_000n);
    const before = await tip();
    await btcd.restart();
    expect(await tip()).toEqual(before);
    await node.reorganise(3);
    await node.mine(2);
    const after = await tip();
    await node.send(newOutside(), 1_000n);
    expect(await node.pendingTransactions()).toBe(1);
    await btcd.restart();
    expect(await tip()).toEqual(after);
    expect(await node.pendingTransactions()).toBe(0);
    await node.mine(1);
    expect((await tip())[0]).toBe(Number(after[0]) + 1);
  }, 60_000);
});
