import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { findOnPath } from '../../../dev/binaries';
import { projectRoot } from '../../../dev/paths';
import { startOrder } from '../../deploy/order';
import { type ComposeFile, type Service } from './compose-file';
import { readVariables, resolveCompose } from './resolve';

const tryFile = path.join(projectRoot, 'try.env');
const tryVariables = readVariables(readFileSync(tryFile, 'utf8'));

describe('the compose file with its variables replaced', () => {
  it('has defaults, given values, values in defaults, and dollar signs for shells', () => {
    const byDefault = resolveCompose({ USER: 'ada' }).services;
    expect(byDefault.api?.image).toBe('custody-gateway:local');
    expect(byDefault.gateway?.environment?.GATEWAY_OPERATOR).toBe('ada');
    expect(byDefault['temporal-schema']?.command?.[0]).toContain('export SQL_PASSWORD="$(cat /run/secrets/password)"');
    const given = resolveCompose({ GATEWAY_VERSION: '1.2.3', GATEWAY_OPERATOR: 'grace', USER: 'ada' }).services;
    expect(given.api?.image).toBe('custody-gateway:1.2.3');
    expect(given.gateway?.environment?.GATEWAY_OPERATOR).toBe('grace');
  });

  const composer = findOnPath('docker-compose');
  (composer ? it : it.skip).each([
    ['without variables', null, {}],
    ['with try.env', tryFile, tryVariables],
  ])('is what docker-compose makes of it %s (skipped where docker-compose is not installed)', async (_with, file, variables) => {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME };
    // in place of a `.env` of the developer's
    const empty = path.join(mkdtempSync(path.join(tmpdir(), 'compose-')), 'empty.env');
    writeFileSync(empty, '');
    const args = ['--env-file', file ?? empty, '-f', path.join(projectRoot, 'docker-compose.yml'), 'config'];
    const { stdout } = await promisify(execFile)(composer ?? '', args, { env });
    rmSync(path.dirname(empty), { recursive: true });
    // it prints what can be read again: a dollar sign twice
    const theirs = (parse(stdout.replaceAll('$$', '$')) as ComposeFile).services;
    const compared = (services: Record<string, Service>) =>
      Object.fromEntries(
        Object.entries(services).map(([name, { image, environment = {}, command, entrypoint, user, profiles }]) => [
          name,
          // version 1 does not replace the variable in the default of this one
          { image, environment: { ...environment, GATEWAY_OPERATOR: undefined }, command, entrypoint, user, profiles },
        ]),
      );
    expect(compared(resolveCompose(variables).services)).toEqual(compared(theirs));
  });
});

describe('the order of start', () => {
  const names = startOrder(resolveCompose(tryVariables).services, ['try']);

  it('has what the profiles name, and each service after those that it waits for', () => {
    expect(names).toEqual(expect.arrayContaining(['chain-ethereum', 'first-client', 'api']));
    expect(names).not.toContain('faucet');
    expect(names).not.toContain('gateway');
    expect(startOrder(resolveCompose({}).services, [])).not.toContain('first-client');
    const before = (first: string, second: string) => expect(names.indexOf(first)).toBeLessThan(names.indexOf(second));
    before('setup', 'postgres');
    before('postgres', 'databases');
    before('temporal', 'temporal-setup');
    before('temporal-setup', 'mpc-node-1');
  });

  it('is refused where services wait for each other', () => {
    const waitingFor = (other: string) => ({ depends_on: { [other]: { condition: 'service_healthy' } } }) as unknown as Service;
    expect(() => startOrder({ a: waitingFor('b'), b: waitingFor('a') }, [])).toThrow('a waits for itself');
  });
});
