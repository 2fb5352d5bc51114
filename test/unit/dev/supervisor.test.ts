import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { processIdentity, until } from '../../../dev/processes';
import { type ProcessSpec, type RunningProcess, Supervisor } from '../../../dev/supervisor';

jest.setTimeout(30_000);

describe('Supervisor', () => {
  let folder: string;
  let supervisor: Supervisor;
  let lines: string[];
  let known: RunningProcess[];

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'supervisor-'));
    lines = [];
    known = [];
    supervisor = new Supervisor({ logs: folder, log: (line) => lines.push(line), changed: (processes) => (known = processes) });
  });
  afterEach(async () => {
    await supervisor.stop([]);
    rmSync(folder, { recursive: true, force: true });
  });

  const sleeper = (name: string, group = name, script = 'setInterval(() => {}, 1000)'): ProcessSpec => ({
    name,
    group,
    command: () => ({ command: process.execPath, args: ['-e', script], env: { PATH: process.env.PATH } }),
    ready: () => Promise.resolve(true),
    readyTimeoutMs: 5_000,
  });
  const pidOf = (name: string) => known.find((process) => process.name === name)?.pid ?? 0;

  it('starts a killed process again within a second and reports its new pid', async () => {
    await supervisor.start(sleeper('api'));
    const first = pidOf('api');
    process.kill(first, 'SIGKILL');
    expect(await until(() => pidOf('api') !== first && processIdentity(pidOf('api')) !== null, 10_000, 20)).toBe(true);
    // it would name a pause of more than a second
    expect(lines[0]).toBe(`api (pid ${first}) was killed by SIGKILL: starting it again`);
    expect(await until(() => lines.includes(`api is back (pid ${pidOf('api')})`), 10_000, 20)).toBe(true);
  });

  it('waits longer after each failure of a process, and names its log', async () => {
    await supervisor.start(sleeper('worker', 'worker', 'setTimeout(() => process.exit(3), 300)'));
    expect(await until(() => lines.filter((line) => line.includes('starting it again')).length >= 4, 15_000)).toBe(true);
    expect(lines.some((line) => line.includes('ended with exit code 3') && line.includes(path.join(folder, 'worker.log')))).toBe(
      true,
    );
  });

  it('fails a first start with the end of the log', async () => {
    const spec = {
      ...sleeper('mpc-node-1', 'mpc', 'console.error("MPC_NODE_KEK is required"); process.exit(78)'),
      ready: () => Promise.resolve(false),
    };
    await expect(supervisor.start(spec)).rejects.toThrow(/mpc-node-1 ended with exit code 78[^]*MPC_NODE_KEK is required/);
    expect(known).toEqual([]);
  });

  it('fails for a program that does not exist', async () => {
    const spec = { ...sleeper('temporal'), command: () => ({ command: '/does/not/exist', args: [] }) };
    await expect(supervisor.start(spec)).rejects.toThrow(/could not be started/);
  });

  it('stops the groups in order and starts nothing afterwards', async () => {
    const log = path.join(folder, 'order');
    writeFileSync(log, '');
    const logsItsEnd = (name: string) =>
      `process.on('SIGTERM', () => { require('fs').appendFileSync(${JSON.stringify(log)}, '${name} '); process.exit(0) }); console.log('up'); setInterval(() => {}, 1000)`;
    const spec = (name: string, group: string): ProcessSpec => ({
      ...sleeper(name, group, logsItsEnd(name)),
      ready: () => Promise.resolve(readFileSync(supervisor.logFile(name), 'utf8').includes('up')),
    });
    await Promise.all([
      supervisor.start(spec('db', 'postgres')),
      supervisor.start(spec('eth', 'chain:ethereum')),
      supervisor.start(spec('api', 'api')),
    ]);
    await supervisor.stop([['api'], ['chain:*'], ['postgres']]);
    expect(readFileSync(log, 'utf8')).toBe('api eth db ');
    expect(known).toEqual([]);
    await expect(supervisor.start(sleeper('late'))).rejects.toThrow(/being stopped/);
  });
});
