import { startHealthListener, type HealthChecks, type HealthListener } from '../../../src/platform/metrics';

describe('the health listener', () => {
  let listener: HealthListener;
  let checks: () => Promise<HealthChecks>;
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${listener.port}${path}`);
    return { status: response.status, body: await response.text() };
  };
  beforeAll(async () => {
    listener = await startHealthListener({ process: 'api', host: '127.0.0.1', port: 0, ready: () => checks() });
  });
  afterAll(() => listener.close());

  test('is ready when no check is false; texts are information only', async () => {
    checks = () => Promise.resolve({ database: true, peers: 'none reachable' });
    const { status, body } = await get('/health/ready');
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({ status: 'ready', checks: { database: true, peers: 'none reachable' } });
    checks = () => Promise.resolve({ database: false });
    expect(await get('/health/ready')).toMatchObject({ status: 503 });
    checks = () => Promise.reject(new Error('secret text'));
    expect(await get('/health/ready')).toEqual({ status: 503, body: '{"status":"not_ready"}' });
  });

  test('where some checks decide, the others are details', async () => {
    const listener = await startHealthListener({
      ...{ process: 'api', host: '127.0.0.1', port: 0, decisive: ['database'] },
      ready: () => checks(),
    });
    const ready = async () => {
      const response = await fetch(`http://127.0.0.1:${listener.port}/health/ready`);
      return [response.status, await response.json()];
    };
    try {
      const detail = { database: true, 'chain:base': false };
      checks = () => Promise.resolve(detail);
      expect(await ready()).toEqual([200, { status: 'ready', checks: detail }]);
      checks = () => Promise.resolve({ database: false, 'chain:base': true });
      expect((await ready())[0]).toBe(503);
      checks = () => Promise.resolve({ 'chain:base': true });
      expect((await ready())[0]).toBe(503);
      checks = () => new Promise(() => undefined);
      expect(await ready()).toEqual([503, { status: 'not_ready', checks: { answered_in_time: false } }]);
    } finally {
      await listener.close();
    }
  });

  test('serves liveness and metrics, and nothing else', async () => {
    expect(await get('/health/live')).toMatchObject({ status: 200 });
    expect((await get('/metrics')).body).toContain('process_cpu_seconds_total');
    expect(await get('/')).toMatchObject({ status: 404 });
  });
});
