import { createChainActivities } from '../../../activities/chain';
import type { JsonObject } from '../../../src/chains/types';
import { createLogger } from '../../../src/platform/logging';
import { connectTron } from '../../tron-client';
import { trx } from '../../tron-simulator';
import { createTronFixture } from './fixture';

jest.setTimeout(60_000);

test('an expired attempt without its reference block waits for an endpoint that is out, and one alarm names the chain', async () => {
  const fixture = await createTronFixture();
  try {
    const { alice, bob, simulated, mine, follow, transfer, ledger, chain, options, send } = fixture;
    const alerts: unknown[] = [];
    const logger = createLogger('test', 'silent');
    jest.spyOn(logger, 'error').mockImplementation((facts: unknown) => void alerts.push(facts));
    const over = (...names: string[]) =>
      createChainActivities({ ...options, logger, clients: new Map([[chain.name, connectTron(simulated, names)]]) });
    await send(alice, trx(1_000));
    await mine(fixture.chain.confirmations);
    await follow();
    const txId = await transfer({ tokenSymbol: 'TRX', amount: '1', toAddress: bob.address });
    const next = { txId, attempt: 1, kind: 'first' as const };
    const prepared = await over('one').prepareAttempt(next);
    // an endpoint has named a block that the chain does not have
    const reference = { ...(prepared.details as { reference: JsonObject }).reference, id: 'ab'.repeat(8) };
    const details = { ...(prepared.details as JsonObject), reference };
    expect(await ledger.beginAttempt({ ...next, prepared: { ...prepared, details } })).toMatchObject({ outcome: 'begun' });
    await simulated.control('mine', { blocks: 1, skip_ms: 150_000 });
    await mine(10);

    await simulated.control('endpoint', { name: 'two', down: true });
    const asked = over('one', 'two');
    for (let times = 0; times < 2; times += 1) expect(await asked.observe({ txId })).toMatchObject({ state: 'absent' });
    expect(alerts).toEqual([{ alert: 'endpoints_not_agreed', chain: chain.name, tx_id: txId }]);
    await simulated.control('heal');
    expect(await asked.observe({ txId })).toMatchObject({ state: 'impossible' });
  } finally {
    await fixture.close();
  }
});
