import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import * as ports from '../../../dev/ports';
import { projectRoot } from '../../../dev/paths';

const { freePort } = ports;
const blockOf = (port: number): number => Math.floor(port / 20);

/** A process that prints the ports it was given, and lives until its input ends. */
function claimer(count: number) {
  const program = `
    const { freePort } = require(process.argv[1]);
    (async () => {
      const ports = [];
      for (let index = 0; index < ${count}; index += 1) ports.push(await freePort());
      console.log(JSON.stringify(ports));
      process.stdin.resume();
    })();`;
  const child = spawn(process.execPath, ['-e', program, join(projectRoot, 'dist/dev/ports.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ports = once(child.stdout, 'data').then(([line]) => JSON.parse(String(line)) as number[]);
  return { ports, end: () => (child.stdin.end(), once(child, 'exit')) };
}

/** As the next file of tests in this process loads it. */
function nextFile(): typeof ports {
  let loaded = ports;
  jest.isolateModules(() => {
    loaded = jest.requireActual<typeof ports>('../../../dev/ports');
  });
  return loaded;
}

describe('free ports', () => {
  it('are those of one block, and never the same twice', async () => {
    const given: number[] = [];
    for (let index = 0; index < 15; index += 1) given.push(await freePort());
    expect(new Set(given).size).toBe(15);
    expect(new Set(given.map(blockOf)).size).toBe(1);
  });

  it('are of another block for each file of tests of one process: servers of the one before may be restarting', async () => {
    const before = blockOf(await freePort());
    expect(blockOf(await nextFile().freePort())).not.toBe(before);
  });

  it('are of another one once a block is used up', async () => {
    const child = claimer(30);
    const given = await child.ports;
    await child.end();
    expect(new Set(given).size).toBe(30);
    expect(new Set(given.map(blockOf)).size).toBe(2);
  });

  it('are of different blocks in processes that live at the same time', async () => {
    const children = Array.from({ length: 8 }, () => claimer(3));
    const given = (await Promise.all(children.map((child) => child.ports))).flat();
    await Promise.all(children.map((child) => child.end()));
    expect(new Set(given.map(blockOf)).size).toBe(8);
    expect(given.map(blockOf)).not.toContain(blockOf(await freePort()));
  });

  it('are not those that a program listens on, preferred or not', async () => {
    const port = await freePort();
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    expect(await nextFile().freePort(port)).not.toBe(port);
    server.close();
    await once(server, 'close');
  });
});
