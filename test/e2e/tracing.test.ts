import { runSpanId } from '../../src/platform/tracing/ids';
import { createTemporalClient } from '../../src/platform/temporal-client';
import { transferWorkflowId } from '../../src/messages/workflow-ids';
import { randomAddress } from '../factories';
import { stack, waitFor } from '../stack/client';
import type { ReceivedSpan } from '../stack/span-receiver';
import { call, ends, fundedAccount, transactionWhen } from './support';

/** One trace follows a transfer through all processes of the stack; test/stack/global-setup.ts has the collector. */

const spansUrl = process.env.GATEWAY_TEST_SPANS;
// skipped on a stack that somebody else has started (GATEWAY_TEST_STACK): its processes send their spans elsewhere, or none
const onOwnStack = spansUrl === undefined ? test.skip : test;

/** Atomic units of ETH: so many digits are in no id by chance. */
const digits = '12345712345712345';
const amount = `0.0${digits}`;
const parts = ['start transfer', 'workflow transfer', 'activity signTransaction', 'rpc eth_sendRawTransaction'];

onOwnStack(
  'request, start, workflow, activities, signing sessions of two nodes and calls to the chain are one trace',
  async () => {
    const account = await fundedAccount('ethereum', { ETH: '0.2' });
    const body = { from_address: account.address, to_address: randomAddress(), chain: 'ethereum', token_symbol: 'ETH' };
    const { body: accepted } = await call('POST', '/transfer', { body: { ...body, amount } });
    const txId = String(accepted.tx_id);
    expect((await transactionWhen(txId, ends)).status).toBe('CONFIRMED');

    const all = async (query = '') => (await (await fetch(`${spansUrl}/spans${query}`)).json()) as ReceivedSpan[];
    const request = await waitFor(async () =>
      (await all()).find(({ name, attributes }) => name === 'POST /api/v1/transfer' && attributes['gateway.subject_id'] === txId),
    );
    // each process sends its own spans when it comes to it
    const isWhole = (found: ReceivedSpan[]) =>
      parts.every((part) => found.some(({ name }) => name === part)) &&
      new Set(found.filter(({ name }) => name === 'signing session').map(({ attributes }) => attributes['mpc.role'])).size ===
        2 &&
      found.every(({ parentSpanId }) => parentSpanId === '' || found.some(({ spanId }) => spanId === parentSpanId)) &&
      found;
    const spans = await waitFor(async () => isWhole(await all(`?trace=${request.traceId}`)));

    const named = (name: string) => spans.filter((span) => span.name === name);
    const parentOf = ({ parentSpanId }: ReceivedSpan) => spans.find(({ spanId }) => spanId === parentSpanId);
    expect(request).toMatchObject({ parentSpanId: '', process: 'api' });
    // every other one has its parent in the trace
    expect(spans.filter((span) => !parentOf(span))).toEqual([expect.objectContaining({ spanId: request.spanId })]);

    const [start] = named('start transfer');
    expect(start).toMatchObject({ parentSpanId: request.spanId });
    const temporal = createTemporalClient({ ...process.env, TEMPORAL_ADDRESS: stack().temporal.address });
    const { runId } = await temporal.workflow.getHandle(transferWorkflowId(txId)).describe();
    await temporal.connection.close();
    const [workflow] = named('workflow transfer');
    expect(workflow).toMatchObject({
      ...{ parentSpanId: start?.spanId, process: 'worker', spanId: runSpanId(runId) },
      attributes: { 'gateway.subject_id': txId, 'gateway.outcome': 'completed' },
    });

    const activities = spans.filter(({ name }) => name.startsWith('activity '));
    expect(new Set(activities.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([workflow?.spanId]));
    const [signing] = named('activity signTransaction');
    expect(new Set(activities.map((span) => span.process))).toEqual(new Set(['worker', 'authoriser', signing?.process]));

    const sessions = named('signing session');
    const [initiator] = sessions.filter(({ attributes }) => attributes['mpc.role'] === 'initiator');
    const [participant] = sessions.filter(({ attributes }) => attributes['mpc.role'] === 'participant');
    expect(initiator).toMatchObject({ parentSpanId: signing?.spanId, process: signing?.process, status: 0 });
    expect(participant).toMatchObject({ parentSpanId: initiator?.spanId, status: 0 });
    expect(participant?.process).toMatch(/^mpc-node-[123]$/);
    expect(participant?.process).not.toBe(initiator?.process);

    const [sent] = named('rpc eth_sendRawTransaction');
    expect(sent).toMatchObject({ process: 'worker', attributes: { 'gateway.chain': 'ethereum', 'server.address': '127.0.0.1' } });
    expect(parentOf(sent as ReceivedSpan)?.name).toMatch(/^activity /);

    const { clients } = stack();
    const text = JSON.stringify(await all());
    const secrets = clients.flatMap(({ api_key: key, api_secret: secret }) => [key, secret]);
    for (const planted of [...secrets, account.address, account.address.toLowerCase(), digits])
      expect([planted, text.includes(planted)]).toEqual([planted, false]);
  },
);
