import pino from 'pino';
import { RefusalReport } from '../../../src/mpc/refusal-report';
import type { RefusedRequest } from '../../../src/mpc/refused-requests';
import { metrics } from '../../../src/platform/metrics';
import { GatewayError } from '../../../src/platform/errors';

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const order = `${base64({ alg: 'EdDSA' })}.${base64({ jti: 'jti-1', kind: 'transfer', tx_id: 'tx-1', attempt: 2, from: '0x01' })}.c2ln`;

describe('what a node refuses', () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { level: 'info', base: null },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const rows: RefusedRequest[] = [];
  let add: (row: RefusedRequest) => Promise<void>;
  const report = new RefusalReport(1, logger, { add: (row) => add(row) });
  const refuse = (code: 'order_refused' | 'node_policy' | 'signers_unavailable', extra?: Record<string, string>) => () =>
    Promise.reject(new GatewayError(code, 'the reason', extra ? { extra } : {}));
  const count = async (role: string, code: string) => {
    const { values } = (await metrics.getSingleMetric('gateway_mpc_refusals_total')?.get()) ?? { values: [] };
    return values.find(({ labels }) => labels.role === role && labels.code === code)?.value ?? 0;
  };
  beforeEach(() => {
    lines.splice(0);
    rows.splice(0);
    add = (row) => Promise.resolve(void rows.push(row));
  });

  test('of Temporal leaves a row and a line that name code, transaction, attempt, peer and order, and a count', async () => {
    const refusing: { signTransaction: (input: object) => Promise<void> } = { signTransaction: refuse('order_refused') };
    const { signTransaction } = report.activities(refusing);
    await expect(signTransaction({ order, unsigned: '0x02', peer: 3 })).rejects.toMatchObject({ code: 'order_refused' });
    expect(lines).toMatchObject([
      {
        ...{ level: 30, role: 'initiator', act: 'signTransaction', code: 'order_refused', reason: 'the reason', peer: 3 },
        order: { jti: 'jti-1', kind: 'transfer', tx_id: 'tx-1', attempt: 2 },
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain(order.split('.')[1]);
    expect(await count('initiator', 'order_refused')).toBe(1);
    const named = { jti: 'jti-1', kind: 'transfer', tx_id: 'tx-1', attempt: 2 };
    expect(rows).toEqual([
      { role: 'initiator', act: 'signTransaction', code: 'order_refused', reason: 'the reason', peer: 3, named },
    ]);
  });

  test('of a peer does the same, whatever the request is', async () => {
    const asked = { role: 'peer', act: 'sign', peer: 2 } as const;
    for (const request of [
      JSON.stringify({ transaction: { order }, payload: 0 }),
      'no JSON',
      '"text"',
      'null',
      '{"order":7}',
      '{"order":"a"}',
    ])
      await expect(report.during({ ...asked, request }, refuse('node_policy', { node: '1' }))).rejects.toThrow('the reason');
    expect(lines.map(({ order }) => order)).toEqual([
      expect.objectContaining({ jti: 'jti-1', tx_id: 'tx-1' }),
      {},
      {},
      {},
      {},
      {},
    ]);
    expect(await count('peer', 'node_policy')).toBe(6);
    expect(rows).toHaveLength(6);
    expect(rows.every(({ role, peer }) => role === 'peer' && peer === 2)).toBe(true);
  });

  test('is refused also while it cannot be put on record, and a node that does not exist is not named', async () => {
    const asked = { role: 'initiator', act: 'signTransaction', peer: 70_000, request: {} } as const;
    await expect(report.during(asked, refuse('order_refused'))).rejects.toThrow('the reason');
    expect(rows).toMatchObject([{ peer: null }]);
    add = () => Promise.reject(new Error('no database'));
    await expect(report.during(asked, refuse('order_refused'))).rejects.toMatchObject({ code: 'order_refused' });
    expect(lines.at(-1)).toMatchObject({ msg: 'a refusal is not on record' });
  });

  test('by its peer is logged as that, and not counted here; a failure without a refusal is neither', async () => {
    const asked = { role: 'initiator', act: 'signTransaction', peer: 2, request: { order } } as const;
    await expect(report.during(asked, refuse('node_policy', { node: '2' }))).rejects.toThrow();
    await expect(report.during(asked, refuse('signers_unavailable'))).rejects.toThrow();
    expect(lines.map(({ msg }) => msg)).toEqual(['the peer refuses']);
    expect(await count('initiator', 'node_policy')).toBe(0);
    expect(rows).toEqual([]);
  });
});
