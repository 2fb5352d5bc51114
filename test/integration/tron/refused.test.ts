import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { verifyLedger } from '../../../src/ledger/verify';
import { tronFixture } from '../../families/tron';
import { trx } from '../../tron-simulator';
import { ServedChain, until } from '../transfers/served';
import { createTronFixture, type TronFixture } from './fixture';

jest.setTimeout(180_000);

/** What the node says to signed bytes before they reach it; null: nothing. */
let refusal: string | null = null;
let refused = 0;

/** An endpoint of the simulator that refuses what is sent, with a code. */
async function startRefusing(url: string) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (refusal !== null && request.url?.startsWith('/wallet/broadcasthex')) {
        refused += 1;
        return response.end(JSON.stringify({ code: refusal, message: '' }));
      }
      return void fetch(`${url}${request.url ?? ''}`, { method: 'POST', body: Buffer.concat(chunks) })
        .then((said) => said.text())
        .then(
          (text) => response.end(text),
          () => response.destroy(),
        );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** A transaction lives for 12 s, and counts as stuck after one. */
const changes = { blockTimeMs: 100, stuckAfterMs: 1_000 };

const served = new ServedChain<TronFixture>(async () => {
  refused = 0;
  let stop = () => {};
  const fixture = await createTronFixture({
    ...{ changes, blockMs: changes.blockTimeMs, isMining: true },
    route: async (url) => {
      const endpoint = await startRefusing(url);
      stop = endpoint.close;
      return endpoint.url;
    },
  });
  await fixture.send(fixture.alice, trx(1_000));
  await fixture.mine(fixture.chain.confirmations);
  await fixture.follow();
  return { ...fixture, close: () => fixture.close().finally(stop) };
});
const to = tronFixture.newAddress();
const submit = () => served.submit({ tokenSymbol: 'TRX', amount: '5', toAddress: to });

/** Nobody asks for it: the polls of the run alone see the chain. */
const ends = (txId: string, as: string) =>
  until(`${txId} is ${as}`, async () => {
    await served.fixture.mine();
    await served.fixture.follow();
    return (await served.status(txId)) === as;
  });

test.each([
  // it was parked at once, until an operator came
  ['for now', 'SERVER_BUSY', 'too many transactions wait at the node'],
  // sent again, it is refused as one that the node has seen
  ['with a code that nobody knows', 'OTHER_ERROR', 'refused by the node (code OTHER_ERROR)'],
])(
  'what every endpoint refuses %s is tried again; after its time without inclusion operators are told, and it is tried again all the same',
  async (_why, code, reason) => {
    const { fixture } = served;
    refusal = code;
    await served.serve();
    const txId = await submit();
    await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
    expect(refused).toBeGreaterThan(0);
    expect(await fixture.transaction(txId)).toMatchObject({
      ...{ failure_code: 'broadcast_rejected', failure_message: reason },
    });
    const before = await fixture.balance(fixture.alice, 'TRX');
    expect(before.locked).toBeGreaterThanOrEqual(trx(5));
    refusal = null;
    await ends(txId, 'CONFIRMED');
    const node = tronFixture.node(fixture.simulated.url);
    expect(await node.balanceOf(to)).toBe(trx(5));
    expect(await fixture.balance(fixture.alice, 'TRX')).toEqual({
      available: await node.balanceOf(fixture.alice.address),
      locked: 0n,
    });
    expect(await verifyLedger(fixture.database.manager)).toEqual([]);
    if (code === 'SERVER_BUSY') await served.record(transferWorkflowId(txId), 'transfer-confirmed-refused-until-parked');
  },
);
